/** A required command, and the arguments that print its version. */
export type Toolchain = { readonly name: string; readonly command: string; readonly version: RegExp };

/** How a merchant generates a client in a language other than TypeScript, in a folder that contains the contract. */
export type Language = {
  /** The name of its folder in `test/proofs/generators/clients/`, and of its part in the guide. */
  readonly name: string;
  readonly title: string;
  readonly toolchains: readonly Toolchain[];
  /** What the toolchain would download, and a command that fails if it can't be had here. */
  readonly libraries?: { readonly name: string; readonly command: string };
  /** The libraries that the client needs, as Maven names them. Their paths are in `$JARS`. */
  readonly jars?: readonly string[];
  /** The generator as the guide names it. */
  readonly generator: string;
  /** Writes the client into `payments/`. */
  readonly generate: string;
  readonly build?: string;
  readonly run: string;
  /** Starts a merchant's whole system, built on the samples, for the exam. */
  readonly exam?: string;
  /** Matches the declaration of the amount's value in the generated code; the first group is its type. */
  readonly amount: { readonly file: string; readonly type: RegExp };
  /** The files that the guide prints. */
  readonly samples: readonly string[];
};

const java: Toolchain = { name: "Java", command: "javac -version", version: /javac ([\d.]+)/ };
const OPENAPI_GENERATOR = "java -jar openapi-generator-cli.jar generate -i openapi-3.0.yaml -o payments";
const generatedBy = (name: string) => `openapi-generator 7.0.0, \`${name}\``;

export const languages: readonly Language[] = [
  {
    name: "python",
    title: "Python",
    toolchains: [
      { name: "Python", command: "python3 --version", version: /Python ([\d.]+)/ },
      {
        name: "openapi-python-client",
        command: "openapi-python-client --version",
        version: /version: ([\d.]+)/,
      },
    ],
    generator: "openapi-python-client",
    generate: "openapi-python-client generate --path openapi.yaml --meta none --output-path payments",
    run: "python3 main.py",
    exam: "python3 exam.py",
    amount: { file: "payments/models/amount.py", type: /^ {4}value: (\S+)$/m },
    samples: ["refund.py"],
  },
  {
    name: "java",
    title: "Java",
    toolchains: [java],
    generator: generatedBy("java"),
    generate: `${OPENAPI_GENERATOR} -g java --library native --additional-properties=openApiNullable=false,annotationLibrary=none,hideGenerationTimestamp=true`,
    jars: [
      "com.fasterxml.jackson.core:jackson-databind:2.17.2",
      "com.fasterxml.jackson.core:jackson-core:2.17.2",
      "com.fasterxml.jackson.core:jackson-annotations:2.17.2",
      "com.fasterxml.jackson.datatype:jackson-datatype-jsr310:2.17.1",
      "com.google.code.findbugs:jsr305:3.0.2",
      "javax.annotation:javax.annotation-api:1.3.2",
    ],
    build:
      "javac -proc:none -d classes -cp $JARS $(find payments/src/main -name '*.java') Refunds.java Main.java Exam.java",
    run: "java -cp classes:$JARS Main",
    exam: "java -cp classes:$JARS Exam",
    amount: {
      file: "payments/src/main/java/org/openapitools/client/model/Amount.java",
      type: /private (?!String)(\w+) value;/,
    },
    samples: ["Refunds.java"],
  },
  {
    name: "go",
    title: "Go",
    toolchains: [{ name: "Go", command: "go version", version: /go(\d[\d.]*)/ }, java],
    generator: generatedBy("go"),
    generate: `${OPENAPI_GENERATOR} -g go --additional-properties=packageName=payments --git-host=example.com --git-user-id=. --git-repo-id=payments`,
    build: "go build -o program .",
    run: "./program",
    exam: "./program serve",
    amount: { file: "payments/model_amount.go", type: /Value (\S+) `json:"value"`/ },
    samples: ["refund.go"],
  },
  {
    name: "php",
    title: "PHP",
    toolchains: [
      { name: "PHP", command: "php --version", version: /PHP ([\d.]+)/ },
      {
        name: "Guzzle",
        command: `php -r 'require "GuzzleHttp/autoload.php"; echo GuzzleHttp\\Client::MAJOR_VERSION;'`,
        version: /^(\d+)/,
      },
      java,
    ],
    generator: generatedBy("php"),
    generate: `${OPENAPI_GENERATOR} -g php --additional-properties=invokerPackage=Payments`,
    run: "php main.php",
    exam: "php -q -S 127.0.0.1:$PORT exam.php",
    amount: { file: "payments/lib/Model/Amount.php", type: /'value' => '(\w+)'/ },
    samples: ["refund.php"],
  },
  {
    name: "ruby",
    title: "Ruby",
    toolchains: [
      { name: "Ruby", command: "ruby --version", version: /ruby ([\d.]+)/ },
      {
        name: "Typhoeus",
        command: `ruby -e 'require "typhoeus"; puts Typhoeus::VERSION'`,
        version: /^([\d.]+)/,
      },
      java,
    ],
    generator: generatedBy("ruby"),
    generate: `${OPENAPI_GENERATOR} -g ruby --additional-properties=gemName=payments`,
    run: "ruby -Ipayments/lib main.rb",
    exam: "ruby -Ipayments/lib exam.rb",
    amount: { file: "payments/lib/payments/models/amount.rb", type: /:'value' => :'([A-Z]\w+)'/ },
    samples: ["refund.rb"],
  },
  {
    name: "rust",
    title: "Rust",
    toolchains: [{ name: "Rust", command: "rustc --version", version: /rustc ([\d.]+)/ }, java],
    libraries: {
      name: "reqwest and uuid, neither from crates.io nor Debian's,",
      command:
        "ls -d /usr/share/cargo/registry/reqwest-* /usr/share/cargo/registry/uuid-* || cargo info --quiet reqwest",
    },
    generator: generatedBy("rust"),
    generate: `${OPENAPI_GENERATOR} -g rust --library reqwest --additional-properties=packageName=payments`,
    build: "cargo build --quiet $CARGO_OPTIONS",
    run: "target/debug/merchant",
    exam: "target/debug/merchant serve",
    amount: { file: "payments/src/models/amount.rs", type: /pub value: (\w+)/ },
    samples: ["Cargo.toml", "src/refund.rs"],
  },
  {
    name: "csharp",
    title: "C#",
    toolchains: [{ name: "Mono", command: "mcs --version", version: /version ([\d.]+)/ }],
    // Some packages bring Mono without the facades of .NET Standard, which NSwag is built on.
    libraries: {
      name: "netstandard.dll of Mono, from mono-devel,",
      command: 'ls "$(dirname "$(command -v mcs)")/../lib/mono/4.5/Facades/netstandard.dll"',
    },
    generator:
      "NSwag 14.7.1, with [a type](../../test/proofs/generators/clients/csharp/SubscriptionDetails.cs) beside it",
    generate:
      "mono $NSWAG/NSwag.exe openapi2csclient /input:openapi-3.0.yaml /output:Payments.cs /namespace:Payments /className:PaymentsClient /jsonLibrary:NewtonsoftJson",
    build:
      "cp $NSWAG/Newtonsoft.Json.dll . && mcs -nowarn:8632 -out:program.exe -r:Newtonsoft.Json.dll -r:System.Net.Http -r:System.Runtime.Serialization -r:System.ComponentModel.DataAnnotations Payments.cs SubscriptionDetails.cs Refunds.cs Exam.cs Program.cs",
    run: "mono program.exe",
    exam: "mono program.exe serve",
    amount: { file: "Payments.cs", type: /public (\w+) Value / },
    samples: ["Refunds.cs"],
  },
  {
    name: "kotlin",
    title: "Kotlin",
    toolchains: [java],
    jars: [
      "com.squareup.okhttp3:okhttp:4.12.0",
      "com.squareup.okio:okio-jvm:3.6.0",
      "com.google.code.gson:gson:2.11.0",
    ],
    generator: `${generatedBy("kotlin")}, and kotlin-compiler 2.1.21`,
    generate: `${OPENAPI_GENERATOR} -g kotlin --library jvm-okhttp4 --additional-properties=packageName=payments,serializationLibrary=gson`,
    build:
      "bash $KOTLIN/bin/kotlinc -nowarn -cp $JARS -d classes $(find payments/src/main -name '*.kt') Refunds.kt Main.kt Exam.kt",
    run: "java -cp classes:$JARS:$KOTLIN/lib/kotlin-stdlib.jar MainKt",
    exam: "java -cp classes:$JARS:$KOTLIN/lib/kotlin-stdlib.jar Exam",
    amount: {
      file: "payments/src/main/kotlin/payments/models/Amount.kt",
      type: /val `value`: kotlin\.(\w+)/,
    },
    samples: ["Refunds.kt"],
  },
];
