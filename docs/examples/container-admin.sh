podman exec --interactive refunds /usr/local/bin/node dist/server/cli.js \
  admin payments < payments.jsonl
