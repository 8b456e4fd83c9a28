package provider_test

import "github.com/patriceckhart/zot/runtime/provider/httpapi"

func httpOptions(caFile string) httpapi.ClientOptions { return httpapi.ClientOptions{CAFile: caFile} }
