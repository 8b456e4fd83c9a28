package lock_test

import (
	"reflect"
	"testing"

	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/schemas/schematest"
)

func TestSchemaAndEntryAgree(t *testing.T) {
	schematest.Same(t, "lock", "/$defs/entry", schematest.Fields(reflect.TypeFor[lock.Entry]()))
	schematest.Same(t, "lock", "", []string{"$schema", "version", "extensions"})
}
