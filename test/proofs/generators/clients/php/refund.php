<?php
use Payments\Api\RefundsApi;
use Payments\Model\{Amount, ModelInterface, Refund, RefundRequest};
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
