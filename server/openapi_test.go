//go:build openapi

package main

import (
	"context"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// The description is one by the rules of OpenAPI 3.0, as kin-openapi knows them. tests/server.py holds every answer to it.
func TestDescription(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	must(t, err)
	must(t, doc.Validate(context.Background()))
	for path, item := range doc.Paths {
		for method, operation := range item.Operations() {
			if operation.OperationID == "" || operation.Extensions["x-role"] == nil {
				t.Error(method, path, "lacks its name or role")
			}
		}
	}
}
