package main

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"library-catalogue/resolvers"
	"library-catalogue/server"
)

// TestGenericTypes finds generic structs in the types that many packages use: each of these packages
// compiles their methods again, which took a sixth of the first build. An interface hides them.
func TestGenericTypes(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		path += " " + typ.String()
		ours := strings.HasPrefix(typ.PkgPath(), strings.TrimSuffix(module, "/")) || strings.Contains(typ.PkgPath(), "dataloader")
		if ours && strings.Contains(typ.Name(), "[") && typ.Kind() == reflect.Struct && reflect.PointerTo(typ).NumMethod() > 0 && !strings.Contains(typ.PkgPath(), "/graph") || typ == reflect.TypeFor[sync.Map]() {
			t.Errorf("a generic struct with methods:%s", path)
		}
		for i := range typ.NumMethod() {
			walk(typ.Method(i).Type, path)
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
			walk(typ.Elem(), path)
		case reflect.Map:
			walk(typ.Key(), path)
			walk(typ.Elem(), path)
		case reflect.Struct:
			if ours {
				for i := range typ.NumField() {
					walk(typ.Field(i).Type, path)
				}
			}
		case reflect.Func:
			for i := range typ.NumIn() {
				walk(typ.In(i), path)
			}
			for i := range typ.NumOut() {
				walk(typ.Out(i), path)
			}
		}
	}
	walk(reflect.TypeFor[*resolvers.Resolver](), "")
	walk(reflect.TypeFor[*server.Server](), "")
}
