podman stop refunds
podman wait refunds
