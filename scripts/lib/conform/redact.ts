/** Takes secrets out of everything that is shown or written. */
export interface Redactor {
  /** From now on `secret` is shown as `‹name›`. */
  add(name: string, secret: string | undefined): void;
  apply(text: string): string;
}

export function createRedactor(): Redactor {
  const names = new Map<string, string>();
  return {
    add(name, secret) {
      if (!secret) return;
      names.set(secret, `‹${name}›`);
      // As it stands inside of JSON.
      names.set(JSON.stringify(secret).slice(1, -1), `‹${name}›`);
    },
    apply(text) {
      // Longest first: one token may begin with another.
      const secrets = [...names].sort(([a], [b]) => b.length - a.length);
      return secrets.reduce((shown, [secret, name]) => shown.replaceAll(secret, name), text);
    },
  };
}
