// Stands in for danielqsj/kafka_exporter, which no package source of tests has, with the client library that it uses: a
// partition without a leader has no series of a leader, and brokers that are away are no longer counted.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/IBM/sarama"
)

func main() {
	server := flag.String("kafka.server", "", "the brokers, divided by commas")
	address := flag.String("web.listen-address", "", "where metrics are served")
	flag.Parse()
	config := sarama.NewConfig()
	config.Metadata.Retry.Max = 0
	client, err := sarama.NewClient(strings.Split(*server, ","), config)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/metrics", func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("content-type", "text/plain; version=0.0.4")
		fmt.Fprint(response, describe(client))
	})
	log.Fatal(http.ListenAndServe(*address, nil))
}

// describe renders what Kafka says of its brokers and partitions. A refresh that fails leaves what was known before.
func describe(client sarama.Client) string {
	_ = client.RefreshMetadata()
	var text strings.Builder
	fmt.Fprintf(&text, "kafka_brokers %d\n", len(client.Brokers()))
	topics, _ := client.Topics()
	for _, topic := range topics {
		partitions, _ := client.Partitions(topic)
		fmt.Fprintf(&text, "kafka_topic_partitions{topic=%q} %d\n", topic, len(partitions))
		for _, partition := range partitions {
			labels := fmt.Sprintf("{topic=%q,partition=\"%d\"}", topic, partition)
			if leader, err := client.Leader(topic, partition); err == nil {
				fmt.Fprintf(&text, "kafka_topic_partition_leader%s %d\n", labels, leader.ID())
			}
			replicas, _ := client.Replicas(topic, partition)
			inSync, _ := client.InSyncReplicas(topic, partition)
			isBehind := 0
			if len(inSync) < len(replicas) {
				isBehind = 1
			}
			fmt.Fprintf(&text, "kafka_topic_partition_under_replicated_partition%s %d\n", labels, isBehind)
		}
	}
	return text.String()
}
