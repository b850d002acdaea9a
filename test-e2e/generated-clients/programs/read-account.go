package main

import (
	"context"
	"fmt"
	"log"
	"os"

	signalbox "example.org/signalbox/client"
)

func main() {
	configuration := signalbox.NewConfiguration()
	configuration.Servers = signalbox.ServerConfigurations{{URL: os.Getenv("SIGNALBOX_URL")}}
	keys := map[string]signalbox.APIKey{"apiKey": {Key: os.Getenv("SIGNALBOX_KEY")}}
	caller := context.WithValue(context.Background(), signalbox.ContextAPIKeys, keys)
	account, _, err := signalbox.NewAPIClient(configuration).AccountAPI.Viewer(caller).Execute()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(account.Id)
}
