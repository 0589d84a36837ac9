package app

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/cosmos/cosmos-sdk/client/docs"
)

// timersOpenAPI describes the REST endpoints of the module; make proto-swagger writes it.
//
//go:embed swagger/timers.json
var timersOpenAPI []byte

// registerSwagger serves descriptions of REST at /swagger/: the SDK's page, which offers that of the module beside the SDK's
// own.
func registerSwagger(router *mux.Router) error {
	ui, err := fs.Sub(docs.SwaggerUI, "swagger-ui")
	if err != nil {
		return err
	}
	page, err := fs.ReadFile(ui, "index.html")
	if err != nil {
		return err
	}
	one, both := []byte(`url: "./swagger.yaml",`), []byte(`urls: [{url: "./timers.json", name: "x/timers"}, {url: "./swagger.yaml", name: "Cosmos SDK"}],`)
	if !bytes.Contains(page, one) {
		return fmt.Errorf("the page of the SDK's REST endpoints names no %s", one)
	}
	page = bytes.Replace(page, one, both, 1)
	answer := func(kind string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(body) // Who went away needs no answer.
		}
	}
	router.HandleFunc("/swagger/", answer("text/html; charset=utf-8", page))
	router.HandleFunc("/swagger/timers.json", answer("application/json", timersOpenAPI))
	router.PathPrefix("/swagger/").Handler(http.StripPrefix("/swagger/", http.FileServer(http.FS(ui))))
	return nil
}
