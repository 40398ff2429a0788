podman build --format docker --tag refunds .
