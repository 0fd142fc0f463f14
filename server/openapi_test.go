//go:build openapi

package main

import (
	"context"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Checks that the description is valid OpenAPI 3.0, with kin-openapi. tests/server.py checks every answer
// against it.
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
