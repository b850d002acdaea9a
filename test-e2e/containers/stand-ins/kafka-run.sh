#!/bin/bash
# Like /etc/kafka/docker/run of the image `apache/kafka`: KAFKA_SOME_SETTING becomes some.setting (`__` an underscore,
# `___` a hyphen), the log folder is formatted once.
set -eu
settings=/tmp/server.properties
env | grep '^KAFKA_' | while IFS='=' read -r name value; do
  echo "$(echo "${name#KAFKA_}" | sed 's/___/-/g; s/__/~/g; s/_/./g; s/~/_/g' | tr '[:upper:]' '[:lower:]')=$value"
done > "$settings"
[ -f "$KAFKA_LOG_DIRS/meta.properties" ] || /opt/kafka/bin/kafka-storage.sh format --cluster-id "$CLUSTER_ID" --config "$settings"
exec java -XX:+UseSerialGC -Xmx512m -cp "/opt/kafka/libs/*" kafka.Kafka "$settings"
