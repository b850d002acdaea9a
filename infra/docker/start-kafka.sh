#!/bin/bash
# What the Kafka container of docker-compose.yml runs. While its data folder is new, it gets a name and password for each
# service, before anything else is written; then Kafka starts as its image would start it.
set -eu

if [ ! -f "$KAFKA_LOG_DIRS/meta.properties" ]; then
  settings="$(mktemp)"
  cat > "$settings" <<EOS
process.roles=$KAFKA_PROCESS_ROLES
node.id=$KAFKA_NODE_ID
controller.quorum.voters=$KAFKA_CONTROLLER_QUORUM_VOTERS
controller.listener.names=$KAFKA_CONTROLLER_LISTENER_NAMES
listeners=$KAFKA_LISTENERS
advertised.listeners=$KAFKA_ADVERTISED_LISTENERS
inter.broker.listener.name=$KAFKA_INTER_BROKER_LISTENER_NAME
listener.security.protocol.map=$KAFKA_LISTENER_SECURITY_PROTOCOL_MAP
log.dirs=$KAFKA_LOG_DIRS
EOS
  users=()
  for name in topics account config gateway images image-worker webhook-delivery webhook-ingest exporter; do
    variable="$(echo "$name" | tr '[:lower:]-' '[:upper:]_')_KAFKA_PASSWORD"
    users+=(--add-scram "SCRAM-SHA-512=[name=signalbox-$name,password=${!variable}]")
  done
  /opt/kafka/bin/kafka-storage.sh format --cluster-id "$CLUSTER_ID" --config "$settings" "${users[@]}"
  rm "$settings"
fi
exec /etc/kafka/docker/run
