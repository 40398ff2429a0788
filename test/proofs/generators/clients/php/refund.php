<?php
use Payments\Api\RefundsApi;
use Payments\ApiException;
use Payments\Model\{Amount, DuplicateRequestKeyProblem, ModelInterface, Refund, RefundRequest};
use Payments\ObjectSerializer;

// PHP prints a float exactly only with -1, which php.ini-development and php.ini-production set.
ini_set('serialize_precision', '-1');

function refund(RefundsApi $api, string $paymentId, string $amount, string $requestKey): Refund
{
    return $api->issueRefund(new RefundRequest([
        'payment_id' => $paymentId,
        'amount' => new Amount(['currency' => 'USD', 'value' => (float) $amount]),
        'request_key' => $requestKey,
    ]));
}

/** The service never redirects, and Guzzle would follow with the whole request. */
function withoutRedirects(): GuzzleHttp\Client
{
    return new GuzzleHttp\Client(['allow_redirects' => false, 'timeout' => 10]);
}

/**
 * Repeats a call whose outcome is unknown, always with the same requestKey. Returns the status of the refund, or null if none was
 * made. After an exception, repeat it later with the same requestKey.
 */
function refundOnce(RefundsApi $api, RefundRequest $request): ?string
{
    for ($attempt = 0; ; $attempt++) {
        try {
            return $api->issueRefund($request)->getPaymentStatus();
        } catch (ApiException $error) {
            $status = $error->getCode();
            if ($status >= 300 && $status < 500 && $status !== 429) {
                return existingStatus($request, $error->getResponseObject());
            }
            if ($attempt === 3) {
                throw $error;
            }
            sleep((int) ($error->getResponseHeaders()['Retry-After'][0] ?? 0));
            usleep(300_000 * 2 ** $attempt);
        }
    }
}

/** The status of the refund that has the requestKey, if it is the one that was requested. */
function existingStatus(RefundRequest $request, mixed $problem): ?string
{
    if (!$problem instanceof DuplicateRequestKeyProblem) {
        return null;
    }
    $existing = $problem->getExisting();
    $isOurs = $existing->getOriginalPaymentId() === $request->getPaymentId()
        && $existing->getAmount()->getValue() === $request->getAmount()->getValue();
    return $isOurs ? $existing->getPaymentStatus() : null;
}

function isGenuine(string $secret, string $id, string $timestamp, string $signatures, string $body): bool
{
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
    if ($key === false || strlen($key) < 24) {
        return false; // a key that others could guess proves nothing
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $signatures) as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

const EVENTS = [
    'refund.pending' => Payments\Model\RefundPendingEvent::class,
    'refund.authorized' => Payments\Model\RefundAuthorizedEvent::class,
    'refund.terminal_failed' => Payments\Model\RefundTerminalFailedEvent::class,
    'payment.settled' => Payments\Model\PaymentSettledEvent::class,
    'payment.failed' => Payments\Model\PaymentFailedEvent::class,
    'payment.covered' => Payments\Model\PaymentCoveredEvent::class,
    'account.linked' => Payments\Model\AccountLinkedEvent::class,
    'account.unlinked' => Payments\Model\AccountUnlinkedEvent::class,
    'customer.created' => Payments\Model\CustomerCreatedEvent::class,
];

/** The event as an object of its own class, or null if it is newer than this client. */
function readEvent(string $body): ?ModelInterface
{
    $event = json_decode($body, flags: JSON_THROW_ON_ERROR);
    $known = EVENTS[$event->type] ?? null;
    return $known === null ? null : ObjectSerializer::deserialize($event, $known);
}
