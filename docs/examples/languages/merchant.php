<?php
use Payments\{Api\RefundsApi, ApiException, Configuration};
use Payments\Model\{Amount, DuplicateRequestKeyProblem, RefundRequest};

require 'autoload.php';
ini_set('serialize_precision', '-1'); // otherwise PHP may print 19.99 as 19.989999999999998
// A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
function refund(RefundsApi $api, RefundRequest $request): string
{
    for ($attempt = 0; $attempt < 4; $attempt++) {
        try {
            return $api->issueRefund($request)->getPaymentStatus();
        } catch (ApiException $error) { // its code is 0 without a response
            $status = $error->getCode();
            $problem = $error->getResponseObject();
            if ($problem instanceof DuplicateRequestKeyProblem) {
                $found = $problem->getExisting();
                $isOurs = $found->getOriginalPaymentId() === $request->getPaymentId()
                    && $found->getAmount() == $request->getAmount()
                    && $found->getClientReferenceId() === $request->getClientReferenceId();
                return $isOurs ? $found->getPaymentStatus() : 'conflict';
            }
            $result = json_decode(file_get_contents('retries.json'), true)[$status] ?? null; // by the contract
            if ($result === 'none' && str_contains($error->getResponseBody(), 'errorDetails')) {
                return 'none'; // this alone shows that no attempt made the refund, of this run or of an earlier one
            }
            if ($status >= 300 && $status < 500 && $result !== 'again') {
                return 'unknown';
            }
            sleep((int) ($error->getResponseHeaders()['Retry-After'][0] ?? 0));
            usleep(300_000 * 2 ** $attempt);
        }
    }
    return 'unknown';
}

function receive(string $secret, string $id, string $timestamp, string $signatures, string $body): int
{
    $key = (string) base64_decode(preg_replace('/^whsec_/', '', $secret), true);
    if (strlen($key) < 24 || !ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return 400;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    if (!array_filter(explode(' ', $signatures), fn ($given) => hash_equals($expected, $given))) {
        return 400;
    }
    @mkdir('events');
    $file = fopen($half = 'events/.' . bin2hex(random_bytes(16)), 'x');
    $isStored = fwrite($file, $body) === strlen($body) && fsync($file) && rename($half, "events/$id");
    return $isStored ? 204 : 500; // one file for each id: a repeat changes nothing
}

if ($argv[1] === 'receive') {
    exit(receive(getenv('WEBHOOK_SECRET'), $argv[2], $argv[3], $argv[4], stream_get_contents(STDIN)) . "\n");
}
$settings = (new Configuration())->setHost(getenv('PAYMENTS_URL'))->setAccessToken(getenv('PAYMENTS_TOKEN'));
$request = new RefundRequest(['payment_id' => $argv[2], 'client_reference_id' => $argv[4], 'request_key' => $argv[4]]);
$request->setAmount(new Amount(['currency' => 'USD', 'value' => (float) $argv[3]]));
$http = new GuzzleHttp\Client(['allow_redirects' => false, 'timeout' => 10]);
echo refund(new RefundsApi($http, $settings), $request), "\n";
