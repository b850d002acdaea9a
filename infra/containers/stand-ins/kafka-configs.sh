#!/bin/bash
# The tool that tells and changes who signs in, by the name and place that it has in the image `apache/kafka`.
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m -cp "/opt/kafka/libs/*" kafka.admin.ConfigCommand "$@"
