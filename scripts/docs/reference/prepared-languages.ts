import type { Step } from "./calls.ts";
import type { PreparedCall } from "./prepared-samples.ts";

/** How a language writes what the samples of prepared calls have in common. */
type Syntax = {
  /** Joins texts. */
  readonly plus: string;
  readonly text: (value: string) => string;
  readonly variable: (name: string) => string;
};

const DOUBLE_QUOTED: Syntax = { plus: " + ", text: JSON.stringify, variable: (name) => name };
const SINGLE_QUOTED: Syntax = { ...DOUBLE_QUOTED, text: (value) => `'${value}'` };
const PHP: Syntax = { plus: " . ", text: (value) => `'${value}'`, variable: (name) => `$${name}` };

/** The arguments of the sample's own function: method, path and body. */
function argumentsOf({ method, path, body }: Step, { plus, text, variable }: Syntax): string {
  const parts = path.split(/[{}]/).map((part, index) => (index % 2 === 0 ? text(part) : variable(part)));
  const address = parts.filter((part) => part !== text("")).join(plus);
  return [text(method), address, text(body === undefined ? "" : JSON.stringify(body))].join(", ");
}

type Form = {
  readonly syntax: Syntax;
  readonly indent: string;
  readonly call: (args: string) => string;
  readonly take: (name: string, args: string) => string;
  readonly last: (args: string) => string;
};

/** One statement for each step, and that of the call itself. */
function statements({ before, last }: PreparedCall, { syntax, indent, ...form }: Form): string {
  const steps = before.map((step) => {
    const args = argumentsOf(step, syntax);
    return step.take ? form.take(step.take.name, args) : form.call(args);
  });
  return [...steps, form.last(argumentsOf(last, syntax))]
    .map((text) => indent + text.replaceAll("\n", `\n${indent}`))
    .join("\n");
}

export function preparedGo(call: PreparedCall): string {
  return `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"
)

func call(method, path, body string) (int, string) {
	request, err := http.NewRequest(method, "${call.base}"+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer ${call.token}")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func find(name, text string) string {
	return regexp.MustCompile(\`"\` + name + \`":"([^"]*)"\`).FindStringSubmatch(text)[1]
}

func main() {
${statements(call, {
  syntax: DOUBLE_QUOTED,
  indent: "\t",
  call: (args) => `call(${args})`,
  take: (name, args) => `_, found := call(${args})\n${name} := find("${name}", found)`,
  last: (args) => `status, text := call(${args})\nfmt.Println(status, text)`,
})}
}`;
}

export function preparedJava(call: PreparedCall): string {
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Pattern;

public class Sample {
  static HttpResponse<String> call(String method, String path, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("${call.base}" + path))
        .header("Authorization", "Bearer ${call.token}")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json")
        .method(method, BodyPublishers.ofString(body))
        .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
  }

  static String find(String name, String text) {
    var found = Pattern.compile("\\"" + name + "\\":\\"([^\\"]*)\\"").matcher(text);
    if (!found.find()) throw new IllegalStateException(text);
    return found.group(1);
  }

  public static void main(String[] args) throws Exception {
${statements(call, {
  syntax: DOUBLE_QUOTED,
  indent: "    ",
  call: (args) => `call(${args});`,
  take: (name, args) => `var ${name} = find("${name}", call(${args}).body());`,
  last: (args) =>
    `var response = call(${args});\nSystem.out.println(response.statusCode() + " " + response.body());`,
})}
  }
}`;
}

export function preparedCsharp(call: PreparedCall): string {
  return `using System;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

class Sample
{
    static void Main()
    {
        Send().Wait();
    }

    static async Task<HttpResponseMessage> Call(string method, string path, string body)
    {
        var request = new HttpRequestMessage(new HttpMethod(method), "${call.base}" + path);
        request.Headers.Add("Authorization", "Bearer ${call.token}");
        request.Headers.Add("Accept", "application/json");
        if (body != "")
        {
            request.Content = new StringContent(body);
            request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        }
        return await new HttpClient().SendAsync(request);
    }

    static async Task<string> Find(string name, HttpResponseMessage response)
    {
        var text = await response.Content.ReadAsStringAsync();
        return Regex.Match(text, "\\"" + name + "\\":\\"([^\\"]*)\\"").Groups[1].Value;
    }

    static async Task Send()
    {
${statements(call, {
  syntax: DOUBLE_QUOTED,
  indent: "        ",
  call: (args) => `await Call(${args});`,
  take: (name, args) => `var ${name} = await Find("${name}", await Call(${args}));`,
  last: (args) =>
    `var response = await Call(${args});\nConsole.WriteLine((int)response.StatusCode + " " + await response.Content.ReadAsStringAsync());`,
})}
    }
}`;
}

export function preparedPhp(call: PreparedCall): string {
  return `<?php
function call($method, $path, $body) {
    $curl = curl_init("${call.base}" . $path);
    curl_setopt_array($curl, [
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_HTTPHEADER => [
            "Authorization: Bearer ${call.token}",
            "Content-Type: application/json",
            "Accept: application/json",
        ],
        CURLOPT_POSTFIELDS => $body,
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $text = curl_exec($curl);
    if ($text === false) {
        throw new RuntimeException(curl_error($curl));
    }
    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $text];
}

function find($name, $text) {
    preg_match('/"' . $name . '":"([^"]*)"/', $text, $found);
    return $found[1];
}

${statements(call, {
  syntax: PHP,
  indent: "",
  call: (args) => `call(${args});`,
  take: (name, args) => `$${name} = find("${name}", call(${args})[1]);`,
  last: (args) => `echo implode(" ", call(${args})), "\\n";`,
})}`;
}

export function preparedRuby(call: PreparedCall): string {
  return `require "net/http"

def call(method, path, body)
  uri = URI("${call.base}" + path)
  request = Net::HTTPGenericRequest.new(method, body != "", true, uri)
  request["Authorization"] = "Bearer ${call.token}"
  request["Content-Type"] = "application/json"
  request["Accept"] = "application/json"
  request.body = body if body != ""
  Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
end

${statements(call, {
  syntax: SINGLE_QUOTED,
  indent: "",
  call: (args) => `call(${args})`,
  take: (name, args) => `${name} = call(${args}).body[/"${name}":"([^"]*)"/, 1]`,
  last: (args) => `response = call(${args})\nputs "#{response.code} #{response.body}"`,
})}`;
}
