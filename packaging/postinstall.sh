#!/bin/sh
set -e
getent passwd catalogue >/dev/null ||
	useradd --system --user-group --home-dir /var/lib/catalogue --shell /usr/sbin/nologin catalogue
install -d -o catalogue -g catalogue -m 0750 /var/lib/catalogue
# The file may hold secrets.
chgrp catalogue /etc/catalogue/catalogue.env
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart catalogue.service
fi
