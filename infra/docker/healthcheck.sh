#!/bin/bash
# Ends with 0 when the service of this container is ready for work. Every ten seconds a Node would cost more than the
# service.
exec 3<>"/dev/tcp/127.0.0.1/${SIGNALBOX_MANAGEMENT_SERVER_PORT:-8081}" || exit 1
printf 'GET /management/health/ready HTTP/1.0\r\n\r\n' >&3
read -r -t 4 _ status _ <&3
[ "$status" = 200 ]
