#!/bin/bash
# The tool that formats a log folder, with the name and path of the image `apache/kafka`.
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -cp "/opt/kafka/libs/*" kafka.tools.StorageTool "$@"
