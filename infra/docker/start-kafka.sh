#!/bin/bash
# Run by the Kafka container of docker-compose.yml. A new data folder gets a name and password for each service, before
# anything else is written; then Kafka starts as in its image. A folder of an older version gets its missing names as
# soon as Kafka is up; until then their services are refused, and retry.
set -eu

names="topics account config gateway images image-worker webhook-delivery webhook-ingest exporter"
# Kafka reads folders beside it, and ignores files.
named="$KAFKA_LOG_DIRS/signalbox-names"

password_of() {
  variable="$(echo "$1" | tr '[:lower:]-' '[:upper:]_')_KAFKA_PASSWORD"
  echo "${!variable}"
}

format() {
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
  for name in $names; do
    users+=(--add-scram "SCRAM-SHA-512=[name=signalbox-$name,password=$(password_of "$name")]")
  done
  /opt/kafka/bin/kafka-storage.sh format --cluster-id "$CLUSTER_ID" --config "$settings" "${users[@]}"
  rm "$settings"
}

configs() {
  /opt/kafka/bin/kafka-configs.sh --bootstrap-server 127.0.0.1:9094 --entity-type users "$@"
}

# An existing password stays: it may be in rotation.
add_names() {
  until (exec 3<> /dev/tcp/127.0.0.1/9094) 2> /dev/null; do sleep 1; done
  known="$(configs --describe)"
  for name in $names; do
    [[ "$known" == *"'signalbox-$name'"* ]] ||
      configs --alter --entity-name "signalbox-$name" --add-config "SCRAM-SHA-512=[password=$(password_of "$name")]"
  done
  echo "$names" > "$named"
}

if [ ! -f "$KAFKA_LOG_DIRS/meta.properties" ]; then
  format
  echo "$names" > "$named"
elif [ "$(cat "$named" 2> /dev/null)" != "$names" ]; then
  add_names &
fi
exec /etc/kafka/docker/run
