# Makes an authority and a certificate for each address in $ADDRESSES, for the connections between machines of a Citus cluster.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 3650 -subj "/CN=cluster" \
  -keyout cluster-ca.key -out cluster-ca.crt
for address in $ADDRESSES; do
  openssl req -x509 -CA cluster-ca.crt -CAkey cluster-ca.key -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 365 \
    -subj "/CN=$address" -addext "subjectAltName=IP:$address" -addext "basicConstraints=critical,CA:false" \
    -keyout "$address.key" -out "$address.crt"
done
