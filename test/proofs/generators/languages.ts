/** How a merchant generates a client in a language, in a folder that contains the contract, and runs the sample of the guide. */
export type Language = {
  readonly name: string;
  /** In `docs/examples/languages`. */
  readonly sample: string;
  /** Commands that fail where a toolchain or a library is missing. */
  readonly needs: readonly string[];
  /** Libraries by their Maven names. Their paths are in `$JARS`. */
  readonly jars?: readonly string[];
  /** Files beside the sample, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Writes the client. */
  readonly generate: string;
  readonly build?: string;
  readonly run: string;
  /** Whether the sample takes the exam as well. */
  readonly exam?: true;
};

const OPENAPI_GENERATOR = "java -jar $GENERATOR generate -i openapi-3.0.yaml -o payments";

const PHP_AUTOLOAD = `<?php
require 'GuzzleHttp/autoload.php';
spl_autoload_register(fn ($class) => str_starts_with($class, 'Payments\\\\')
    && include __DIR__ . '/payments/lib/' . strtr(substr($class, 9), '\\\\', '/') . '.php');
`;

const CARGO = `[package]
name = "merchant"
version = "1.0.0"
edition = "2021"

[[bin]]
name = "merchant"
path = "merchant.rs"

[dependencies]
base64 = "0.13"
hmac = "0.12"
payments = { path = "payments" }
reqwest = { version = "0.11", default-features = false, features = ["json"] }
serde_json = "1"
sha2 = "0.10"
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
`;

/** The one module of serde_with that the generated client uses: Debian, which has all other crates, lacks it. */
const SERDE_WITH = `pub mod rust { pub mod double_option {
  use serde::{Deserialize, Deserializer, Serialize, Serializer};
  pub fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(given: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(given).map(Some)
  }
  pub fn serialize<S: Serializer, T: Serialize>(value: &Option<Option<T>>, target: S) -> Result<S::Ok, S::Error> {
    value.serialize(target)
  }
} }
`;

export const languages: readonly Language[] = [
  {
    name: "typescript",
    sample: "merchant.ts",
    needs: ["node --version"],
    generate: "openapi-typescript openapi.yaml -o payments.ts",
    files: {
      "tsconfig.json": `{ "compilerOptions": { "strict": true, "noEmit": true, "allowImportingTsExtensions": true,
        "module": "nodenext", "target": "es2024", "skipLibCheck": true, "types": ["node"] }, "files": ["merchant.ts"] }`,
    },
    build: "tsc",
    run: "node merchant.ts",
  },
  {
    name: "python",
    sample: "merchant.py",
    needs: ["java -version", "python3 -c 'import pydantic, dateutil, urllib3'"],
    // The generated client needs version 1 of pydantic, which version 2 contains. Of aenum it needs two names, and that a class
    // may name itself while it is being defined.
    files: {
      "payments-needs/sitecustomize.py":
        "import sys\nfrom pydantic import VERSION\nif VERSION > '2':\n    import pydantic.v1\n    sys.modules['pydantic'] = pydantic.v1\n",
      "payments-needs/aenum.py":
        "import builtins\nfrom enum import Enum\nno_arg = builtins.EventCategory = builtins.EventName = None\n",
    },
    generate: `${OPENAPI_GENERATOR} -g python --package-name payments`,
    run: "env PYTHONPATH=payments:payments-needs python3 merchant.py",
    exam: true,
  },
  {
    name: "java",
    sample: "Merchant.java",
    needs: ["javac -version"],
    jars: [
      "com.fasterxml.jackson.core:jackson-databind:2.17.2",
      "com.fasterxml.jackson.core:jackson-core:2.17.2",
      "com.fasterxml.jackson.core:jackson-annotations:2.17.2",
      "com.fasterxml.jackson.datatype:jackson-datatype-jsr310:2.17.1",
      "com.google.code.findbugs:jsr305:3.0.2",
      "javax.annotation:javax.annotation-api:1.3.2",
    ],
    generate: `${OPENAPI_GENERATOR} -g java --library native --additional-properties=openApiNullable=false,annotationLibrary=none`,
    build: "javac -proc:none -d classes -cp $JARS $(find payments/src/main -name '*.java') Merchant.java",
    run: "java -cp classes:$JARS Merchant",
  },
  {
    name: "kotlin",
    sample: "Merchant.kt",
    needs: ["java -version"],
    jars: [
      "com.squareup.okhttp3:okhttp:4.12.0",
      "com.squareup.okio:okio-jvm:3.6.0",
      "com.google.code.gson:gson:2.11.0",
    ],
    generate: `${OPENAPI_GENERATOR} -g kotlin --library jvm-okhttp4 --additional-properties=packageName=payments,serializationLibrary=gson`,
    build:
      "bash $TOOLS/kotlin-compiler/bin/kotlinc -nowarn -cp $JARS -d classes $(find payments/src/main -name '*.kt') Merchant.kt",
    run: "java -cp classes:$JARS:$TOOLS/kotlin-compiler/lib/kotlin-stdlib.jar MerchantKt",
  },
  {
    name: "csharp",
    sample: "Merchant.cs",
    needs: [
      "mcs --version",
      'ls "$(dirname "$(command -v mcs)")/../lib/mono/4.5/Facades/netstandard.dll"', // in Debian's mono-devel
    ],
    files: {
      // NSwag leaves these types of a subscription out.
      "Subscription.cs":
        "namespace Payments { public class SubscriptionDetails { } public partial class EventSubscription { public string Type; } }\n",
    },
    generate:
      "mono $TOOLS/nswag/bin/binaries/Win/NSwag.exe openapi2csclient /input:openapi-3.0.yaml /output:Payments.cs /namespace:Payments /className:PaymentsClient /jsonLibrary:NewtonsoftJson",
    build:
      "cp $TOOLS/nswag/bin/binaries/Win/Newtonsoft.Json.dll . && mcs -nowarn:8632 -out:merchant.exe -r:Newtonsoft.Json.dll -r:System.Net.Http -r:System.Runtime.Serialization -r:System.ComponentModel.DataAnnotations *.cs",
    run: "mono merchant.exe",
  },
  {
    name: "go",
    sample: "merchant.go",
    needs: ["go version", "java -version"],
    files: {
      "go.mod":
        "module example.com/merchant\n\ngo 1.18\n\nrequire example.com/payments v0.0.0\n\nreplace example.com/payments => ./payments\n",
    },
    generate: `${OPENAPI_GENERATOR} -g go --additional-properties=packageName=payments --git-host=example.com --git-user-id=. --git-repo-id=payments`,
    build: "go build -o merchant .",
    run: "./merchant",
    exam: true,
  },
  {
    name: "php",
    sample: "merchant.php",
    needs: ["php -r 'require \"GuzzleHttp/autoload.php\";'", "java -version"],
    files: { "autoload.php": PHP_AUTOLOAD },
    generate: `${OPENAPI_GENERATOR} -g php --additional-properties=invokerPackage=Payments`,
    run: "php merchant.php",
  },
  {
    name: "ruby",
    sample: "merchant.rb",
    needs: ["ruby -e 'require \"typhoeus\"'", "java -version"],
    generate: `${OPENAPI_GENERATOR} -g ruby --additional-properties=gemName=payments`,
    run: "ruby -Ipayments/lib merchant.rb",
  },
  {
    name: "rust",
    sample: "merchant.rs",
    // The crates as Debian packages them.
    needs: ["cargo --version", "ls -d /usr/share/cargo/registry/reqwest-*", "java -version"],
    files: {
      "Cargo.toml": `${CARGO}\n[patch.crates-io]\nserde_with = { path = "serde_with" }\n`,
      ".cargo/config.toml":
        '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n',
      "serde_with/Cargo.toml":
        '[package]\nname = "serde_with"\nversion = "2.0.0"\nedition = "2021"\n\n[dependencies]\nserde = "1"\n',
      "serde_with/src/lib.rs": SERDE_WITH,
    },
    generate: `${OPENAPI_GENERATOR} -g rust --library reqwest --additional-properties=packageName=payments`,
    build: "cargo build --quiet --offline",
    run: "target/debug/merchant",
  },
];
