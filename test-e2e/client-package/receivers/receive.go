package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Args[1])
	if err != nil {
		panic(err)
	}
	http.HandleFunc("POST /webhooks", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 2_000_000))
		if err != nil || webhook.Verify(body, request.Header) != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		var event struct {
			Type string
			Data struct{ Parcel int }
		}
		if err := json.Unmarshal(body, &event); err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Println(event.Type, event.Data.Parcel)
		response.WriteHeader(http.StatusNoContent)
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
}
