/** Finds the digest of an image's list of platforms, such as `sha256:…`. */
export type FindDigest = (image: string) => Promise<string>;

/** An image that a Containerfile or a compose file takes from a registry, with its tag, and its digest if it has one. */
const IMAGE =
  /^(\s*(?:FROM\s+|image:\s+|ARG\s+\w+=))([\w.-]+\.[\w.-]+\/[\w./-]+:[\w.-]+)(@sha256:[0-9a-f]{64})?/gm;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** The images in a text that could change under their tag, because no digest follows it. */
export function findUnpinned(text: string): string[] {
  return [...text.matchAll(IMAGE)].flatMap(([, , image = "", digest]) => (digest ? [] : [image]));
}

/**
 * The text with the present digest after each image's tag. The tag stays, so that people see what it is, and so that the next run
 * finds a newer one.
 */
export async function pinImages(text: string, findDigest: FindDigest): Promise<string> {
  const images = new Set([...text.matchAll(IMAGE)].map(([, , image = ""]) => image));
  const digests = new Map<string, string>();
  for (const image of images) {
    const digest = await findDigest(image);
    if (!DIGEST.test(digest)) throw new Error(`${image} has no digest, but ${JSON.stringify(digest)}`);
    digests.set(image, digest);
  }
  return text.replaceAll(
    IMAGE,
    (_, before: string, image: string) => `${before}${image}@${digests.get(image)}`,
  );
}
