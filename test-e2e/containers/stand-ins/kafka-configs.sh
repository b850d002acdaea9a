#!/bin/bash
# The tool for Kafka's credentials, with the name and path of the image `apache/kafka`.
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m -cp "/opt/kafka/libs/*" kafka.admin.ConfigCommand "$@"
