#!/bin/bash
# As the entry point of the image `apache/kafka`: KAFKA_SOME_SETTING becomes some.setting, the log folder is formatted once.
set -eu
settings=/tmp/server.properties
env | grep '^KAFKA_' | while IFS='=' read -r name value; do
  echo "$(echo "${name#KAFKA_}" | tr '[:upper:]_' '[:lower:].')=$value"
done > "$settings"
run() { exec java -XX:+UseSerialGC -Xmx512m -cp "/opt/kafka/libs/*" "$@"; }
[ -f "$KAFKA_LOG_DIRS/meta.properties" ] || (run kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c "$settings")
run kafka.Kafka "$settings"
