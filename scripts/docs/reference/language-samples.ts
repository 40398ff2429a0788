import type { Call } from "./calls.ts";

/** What a sample writes down: a body is JSON, on several lines. */
export type Sent = Pick<Call, "method" | "url"> & {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly json: string | undefined;
};

export function goSample({ method, url, headers, json }: Sent): string {
  const body = json === undefined ? "nil" : `strings.NewReader(\`${json}\`)`;
  const set = headers.map(([name, value]) => `\trequest.Header.Set("${name}", "${value}")`).join("\n");
  return `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"${json === undefined ? "" : '\n\t"strings"'}
)

func main() {
	request, err := http.NewRequest("${method}", "${url}", ${body})
	if err != nil {
		log.Fatal(err)
	}
${set}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.StatusCode, string(text))
}`;
}

export function javaSample({ method, url, headers, json }: Sent): string {
  const set = headers.map(([name, value]) => `        .header("${name}", "${value}")`).join("\n");
  const text = indent(json?.replaceAll("\\", "\\\\") ?? "", 12);
  const body = json === undefined ? "noBody()" : `ofString("""\n            ${text}""")`;
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

public class Sample {
  public static void main(String[] args) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("${url}"))
${set}
        .method("${method}", BodyPublishers.${body})
        .build();
    var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    System.out.println(response.statusCode() + " " + response.body());
  }
}`;
}

export function csharpSample({ method, url, headers, json }: Sent): string {
  const set = headers
    .filter(([name]) => name !== "Content-Type")
    .map(([name, value]) => `        request.Headers.Add("${name}", "${value}");`)
    .join("\n");
  // Without a charset, which the service refuses.
  const body =
    json === undefined
      ? ""
      : `
        request.Content = new StringContent(@"${json.replaceAll('"', '""')}");
        request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");`;
  return `using System;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading.Tasks;

class Sample
{
    static void Main()
    {
        Send().Wait();
    }

    static async Task Send()
    {
        var request = new HttpRequestMessage(new HttpMethod("${method}"), "${url}");
${set}${body}
        var response = await new HttpClient().SendAsync(request);
        Console.WriteLine((int)response.StatusCode + " " + await response.Content.ReadAsStringAsync());
    }
}`;
}

export function phpSample({ method, url, headers, json }: Sent): string {
  const set = headers.map(([name, value]) => `        "${name}: ${value}",`).join("\n");
  const body =
    json === undefined
      ? ""
      : `\n    CURLOPT_POSTFIELDS => <<<'JSON'\n        ${indent(json, 8)}\n        JSON,`;
  return `<?php
$curl = curl_init("${url}");
curl_setopt_array($curl, [
    CURLOPT_CUSTOMREQUEST => "${method}",
    CURLOPT_HTTPHEADER => [
${set}
    ],${body}
    CURLOPT_RETURNTRANSFER => true,
]);
$text = curl_exec($curl);
if ($text === false) {
    throw new RuntimeException(curl_error($curl));
}
echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), " ", $text, "\\n";`;
}

export function rubySample({ method, url, headers, json }: Sent): string {
  const set = headers.map(([name, value]) => `request["${name}"] = "${value}"`).join("\n");
  const body = json === undefined ? "" : `\nrequest.body = <<~'JSON'\n  ${indent(json, 2)}\nJSON`;
  const kind = `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`;
  return `require "net/http"

uri = URI("${url}")
request = Net::HTTP::${kind}.new(uri)
${set}${body}
response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
puts "#{response.code} #{response.body}"`;
}

/** Indents all lines but the first. */
export function indent(text: string, spaces: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(spaces)}`);
}
