/** A refund is authorized within five seconds of its date (D16); on a busy machine the scan of each second may come later. */
export const PROMPT = { timeout: 30_000, interval: 20 };
