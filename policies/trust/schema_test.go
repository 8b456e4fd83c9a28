package trust_test

import (
	"reflect"
	"testing"

	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/schemas/schematest"
)

func TestSchemaAndRecordAgree(t *testing.T) {
	const record = "/$defs/record"
	schematest.Same(t, "trust", record, append(schematest.Fields(reflect.TypeFor[trust.Record]()), "files")) // which the store adds
	schematest.Same(t, "trust", record+"/properties/extensions/additionalProperties", schematest.Fields(reflect.TypeFor[trust.Extension]()))
}
