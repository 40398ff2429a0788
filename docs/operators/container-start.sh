# Migrates the database and starts the server, each in a container with its secrets as files.
podman secret create database-url database-url
podman secret create encryption-key encryption-key
set -- --env-file settings.env --secret database-url,uid=65532 --secret encryption-key,uid=65532 \
  --env DATABASE_URL_FILE=/run/secrets/database-url --env ENCRYPTION_KEY_FILE=/run/secrets/encryption-key \
  --read-only --read-only-tmpfs=false --tmpfs /run/secrets --cap-drop all --security-opt no-new-privileges \
  --ulimit core=0:0 --ulimit nofile=16384:16384 --ulimit nproc=4096:4096
podman run --rm "$@" localhost/refunds migrate
podman run --detach --name refunds "$@" --publish 127.0.0.1:3000:3000 --stop-timeout 15 \
  --volume marks:/var/lib/refunds --env HIGH_WATER_MARK_FILE=/var/lib/refunds/high-water-mark.json localhost/refunds
timeout 60 sh -c 'until podman healthcheck run refunds; do sleep 1; done'
