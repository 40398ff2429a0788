# Kills the receiver, and waits until it runs again.
before=$(cat receiver.pid)
kill "$before"
until [ "$(cat receiver.pid)" != "$before" ]; do sleep 0.1; done
