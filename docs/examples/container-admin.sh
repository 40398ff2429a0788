podman exec --interactive refunds /usr/local/bin/node node_modules/@refund-contract/server/dist/server/cli.js \
  admin payments < payments.jsonl
