import { XMLParser } from "fast-xml-parser";

/** The names of the elements of an XML text in order. Throws when the text is not well-formed. */
export function elementsOf(xml: string): string[] {
  // The parser lets these pass.
  if (/(?![\t\n])\p{Cc}/u.test(xml)) throw new Error("control characters, which XML can't hold");
  const names: string[] = [];
  const updateTag = (name: string) => {
    names.push(name);
    return name;
  };
  new XMLParser({ updateTag, ignoreAttributes: false, ignoreDeclaration: true }).parse(xml, true);
  return names;
}
