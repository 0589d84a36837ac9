package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	gogoproto "github.com/cosmos/gogoproto/proto"
	"github.com/gorilla/mux"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The description that the node serves has every route of the module, a title and a version; the page offers it.
func TestSwaggerDescribesAllRoutes(t *testing.T) {
	router := mux.NewRouter()
	require.NoError(t, registerSwagger(router))
	get := func(path string) string {
		t.Helper()
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, http.StatusOK, answer.Code, path)
		return answer.Body.String()
	}
	page := get("/swagger/")
	require.Contains(t, page, `url: "./timers.json"`)
	require.Contains(t, page, `url: "./swagger.yaml"`)
	require.Contains(t, get("/swagger/swagger.yaml"), "/cosmos/bank/v1beta1/")
	require.NotEmpty(t, get("/swagger/swagger-ui-bundle.js"))

	var served struct {
		Info        struct{ Title, Version, Description string }
		Paths       map[string]json.RawMessage
		Definitions map[string]struct{ Example map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(get("/swagger/timers.json")), &served))
	require.Equal(t, "x/timers: native timers", served.Info.Title)
	require.Equal(t, "v1", served.Info.Version)
	for _, elsewhere := range []string{"swagger.yaml", "/cosmwasm", "/ibc"} {
		require.Contains(t, served.Info.Description, elsewhere)
	}
	require.Equal(t, "/cosmos.bank.v1beta1.MsgSend", served.Definitions["google.protobuf.Any"].Example["@type"], "REST decodes messages")
	found, err := gogoproto.HybridResolver.FindDescriptorByName("timers.v1.Query")
	require.NoError(t, err)
	service, ok := found.(protoreflect.ServiceDescriptor)
	require.True(t, ok)
	routes := 0
	for i := range service.Methods().Len() {
		options := service.Methods().Get(i).Options()
		rule, ok := proto.GetExtension(options, annotations.E_Http).(*annotations.HttpRule)
		require.True(t, ok)
		for _, binding := range append(rule.GetAdditionalBindings(), rule) {
			require.Contains(t, served.Paths, binding.GetGet(), "run make proto-swagger")
			routes++
		}
	}
	require.Len(t, served.Paths, routes, "run make proto-swagger")
}
