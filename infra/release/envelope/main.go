// Verifies a DSSE envelope on standard input with the public key of a file, by the library of other supply-chain tools, and
// prints its payload.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/signerverifier"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	pem, err := os.ReadFile(os.Args[1])
	must(err)
	key, err := signerverifier.LoadKey(pem)
	must(err)
	verifier, err := signerverifier.NewECDSASignerVerifierFromSSLibKey(key)
	must(err)
	envelopes, err := dsse.NewEnvelopeVerifier(verifier)
	must(err)
	var envelope dsse.Envelope
	must(json.NewDecoder(os.Stdin).Decode(&envelope))
	_, payload, err := envelopes.VerifyAndDecode(context.Background(), &envelope)
	must(err)
	os.Stdout.Write(payload)
}
