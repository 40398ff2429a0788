<?php
use Payments\Api\{RefundsApi, WebhooksApi};
use Payments\ApiException;
use Payments\Model\{AccountEventData, CustomerEventData, FailedRefundEventData, ModelInterface, PaymentEventData, RefundEventData};
use Payments\Model\{AllSubscription, Amount, CategorySubscription, EventSubscription, RefundRequest, SubscriptionRequest};

require 'load.php';

$configuration = (new Payments\Configuration())->setHost(getenv('PAYMENTS_URL'))->setAccessToken(getenv('ACCESS_TOKEN'));
$refunds = new RefundsApi(null, $configuration);
$webhooks = new WebhooksApi(null, $configuration);
$run = getenv('RUN');

foreach (explode(',', getenv('REFUNDS')) as $index => $entry) {
    [$paymentId, $amount] = explode('=', $entry);
    $last = "$run-exact$index";
    $refund = refund($refunds, $paymentId, $amount, $last);
    echo "exact$index.status={$refund->getPaymentStatus()}\nexact$index.paymentId={$refund->getPaymentId()}\n";
    echo "exact$index.reference=", $refund->getClientReferenceId() ?? 'null', "\n";
}

$request = ['payment_id' => 'pay_recent', 'amount' => new Amount(['currency' => 'USD', 'value' => 9.99])];
$pending = ['request_key' => "$run-pending", 'client_reference_id' => 'order-1042'];
$refund = $refunds->issueRefund(new RefundRequest([...$request, ...$pending]));
echo "pending.status={$refund->getPaymentStatus()}\npending.reference={$refund->getClientReferenceId()}\n";

$failed = ['payment_id' => 'pay_failed', 'request_key' => "$run-failed", 'client_refefence_id' => 'order-1043'];
$refund = $refunds->issueRefund(new RefundRequest([...$request, ...$failed]));
echo "failed.status={$refund->getPaymentStatus()}\nfailed.errorCode={$refund->getErrorDetails()->getErrorCode()}\n";
echo "failed.reference={$refund->getClientReferenceId()}\n";

try {
    refund($refunds, 'pay_recent', '19.999', "$run-invalid");
} catch (ApiException $error) {
    $problem = $error->getResponseObject();
    echo "invalid.status={$problem->getStatus()}\ninvalid.pointer={$problem->getViolations()[0]->getPointer()}\n";
}
try {
    refund($refunds, 'pay_recent', '9.99', $last);
} catch (ApiException $error) {
    $problem = $error->getResponseObject();
    echo "duplicate.status={$problem->getStatus()}\nduplicate.errorCode={$problem->getErrorDetails()->getErrorCode()}\n";
    echo "duplicate.existing={$problem->getExisting()->getPaymentId()}\n";
    printf("duplicate.amount=%.2f\n", $problem->getExisting()->getAmount()->getValue());
}

$kinds = [
    'event' => new EventSubscription(['type' => 'EVENT', 'details' => ['refund.authorized']]),
    'category' => new CategorySubscription(['type' => 'CATEGORY', 'details' => ['PAYMENT']]),
    'all' => new AllSubscription(['type' => 'ALL']),
];
foreach ($kinds as $name => $details) {
    $subscription = $webhooks->subscribeToWebhooks(new SubscriptionRequest([
        'url' => 'http://127.0.0.1:9/hooks',
        'secret_key' => getenv('WEBHOOK_SECRET'),
        'subscription_details' => $details,
    ]));
    echo "subscription.$name={$subscription->getSubscriptionKey()}\n";
}

[$secret, $id, $body] = [getenv('WEBHOOK_SECRET'), getenv('WEBHOOK_ID'), getenv('WEBHOOK_BODY')];
[$timestamp, $signature] = [getenv('WEBHOOK_TIMESTAMP'), getenv('WEBHOOK_SIGNATURE')];
echo 'webhook.genuine=', var_export(isGenuine($secret, $id, $timestamp, $signature, $body), true), "\n";
echo 'webhook.altered=', var_export(isGenuine($secret, $id, $timestamp, $signature, "$body "), true), "\n";
echo 'webhook.old=', var_export(isGenuine($secret, $id, getenv('OLD_TIMESTAMP'), getenv('OLD_SIGNATURE'), $body), true), "\n";
$forged = false;
foreach (explode(';', getenv('FORGERIES')) as $forgery) {
    [$weak, $forgedSignature] = explode('|', $forgery);
    $forged = $forged || isGenuine($weak, $id, $timestamp, $forgedSignature, $body);
}
echo 'webhook.forged=', var_export($forged, true), "\n";

function describe(?ModelInterface $event): string
{
    $data = $event?->getData();
    return implode(' ', $event === null ? ['unknown'] : [
        $event->getType(),
        $event->getSequence(),
        $event->getTimestamp()->format('Uv'),
        ...match ($data::class) {
            RefundEventData::class => ofRefund($data),
            FailedRefundEventData::class => [...ofRefund($data), $data->getErrorDetails()->getErrorCode()],
            PaymentEventData::class => [$data->getPaymentId(), $data->getStatus(), $data->getAmount()->getValue()],
            AccountEventData::class => [$data->getAccountId()],
            CustomerEventData::class => [$data->getCustomerId()],
        },
    ]);
}

function ofRefund(RefundEventData|FailedRefundEventData $data): array
{
    $refund = [$data->getPaymentId(), $data->getPaymentStatus(), $data->getClientReferenceId() ?? 'null'];
    return [...$refund, $data->getOriginalPaymentId(), $data->getAmount()->getValue(), $data->getRequestKey()];
}

foreach (explode("\n", getenv('EVENTS')) as $index => $line) {
    echo "event$index=", describe(readEvent($line)), "\n";
}
