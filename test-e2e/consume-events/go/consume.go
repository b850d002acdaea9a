// Consumes events and applies each of them once: consume <brokers> <group> <database file> <topic>…
//
// Prints each event that it applies as a line of JSON, and leaves its group on SIGTERM. Where Kafka has TLS and principals,
// KAFKA_CA is the file of its authority, and KAFKA_USERNAME and KAFKA_PASSWORD are a SCRAM-SHA-512 login.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
	"go.etcd.io/bbolt"
)

type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Key  string          `json:"key"`
	Data json.RawMessage `json:"data"`
}

var handled, tally = []byte("handled"), []byte("tally")

func main() {
	brokers, group, file, topics := os.Args[1], os.Args[2], os.Args[3], os.Args[4:]
	stopping, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()

	database := must(bbolt.Open(file, 0o600, nil))
	defer database.Close()
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(brokers, ",")...),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		// No partition goes to another member while its records are in hand.
		kgo.BlockRebalanceOnPoll(),
	}
	client := must(kgo.NewClient(append(options, security()...)...))
	defer client.CloseAllowingRebalance()

	for {
		fetches := client.PollFetches(stopping)
		if stopping.Err() != nil {
			return
		}
		for _, problem := range fetches.Errors() {
			log.Fatalf("%s: %v", problem.Topic, problem.Err)
		}
		fetches.EachRecord(func(record *kgo.Record) { handle(database, record) })
		if err := client.CommitUncommittedOffsets(stopping); err != nil && stopping.Err() == nil {
			log.Fatal(err)
		}
		client.AllowRebalance()
	}
}

func handle(database *bbolt.DB, record *kgo.Record) {
	// A tombstone of a state topic: a consumer that keeps records by key deletes this one.
	if record.Value == nil {
		return
	}
	one := event{ID: header(record, "ce_id"), Type: header(record, "ce_type"), Key: string(record.Key), Data: record.Value}
	isNew := false
	// The effect and the memory of it are one transaction, so neither is ever there without the other.
	err := database.Update(func(tx *bbolt.Tx) error {
		seen := must(tx.CreateBucketIfNotExists(handled))
		if isNew = seen.Get([]byte(one.ID)) == nil; !isNew {
			return nil
		}
		counts := must(tx.CreateBucketIfNotExists(tally))
		var count uint64
		if known := counts.Get([]byte(one.Type)); known != nil {
			count = binary.BigEndian.Uint64(known)
		}
		if err := counts.Put([]byte(one.Type), binary.BigEndian.AppendUint64(nil, count+1)); err != nil {
			return err
		}
		return seen.Put([]byte(one.ID), []byte{1})
	})
	if err != nil {
		log.Fatal(err)
	}
	if isNew {
		fmt.Println(string(must(json.Marshal(one))))
	}
}

func header(record *kgo.Record, name string) string {
	for _, one := range record.Headers {
		if one.Key == name {
			return string(one.Value)
		}
	}
	return ""
}

func security() []kgo.Opt {
	file, isSecured := os.LookupEnv("KAFKA_CA")
	if !isSecured {
		return nil
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(must(os.ReadFile(file))) {
		log.Fatalf("%s has no certificate", file)
	}
	login := scram.Auth{User: os.Getenv("KAFKA_USERNAME"), Pass: os.Getenv("KAFKA_PASSWORD")}
	return []kgo.Opt{
		kgo.DialTLSConfig(&tls.Config{RootCAs: authorities}),
		kgo.SASL(login.AsSha512Mechanism()),
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
