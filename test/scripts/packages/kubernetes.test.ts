import { randomBytes } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import ipaddr from "ipaddr.js";
import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import type { IConfigMap } from "kubernetes-models/v1/ConfigMap";
import type { IPersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import type { IPodSpec } from "kubernetes-models/v1/PodSpec";
import type { IProbe } from "kubernetes-models/v1/Probe";
import type { IService } from "kubernetes-models/v1/Service";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { ROOT } from "../../../scripts/command/root.ts";
import { readConfig } from "../../../server/config/config.ts";
import { isAllowedAddress } from "../../../server/webhooks/target.ts";
import { folderOfTest } from "../../helpers/suite.ts";

type Kinds = {
  ConfigMap: IConfigMap;
  Deployment: IDeployment;
  Job: IJob;
  NetworkPolicy: INetworkPolicy;
  PersistentVolumeClaim: IPersistentVolumeClaim;
  PodDisruptionBudget: IPodDisruptionBudget;
  Service: IService;
};

const operate = (name: string) => readFile(join(ROOT, "server/operate", name), "utf8");
const text = await operate("kubernetes.yaml");
const manifests: Kinds[keyof Kinds][] = parseAllDocuments(text).map((document) => document.toJS());

function manifest<Kind extends keyof Kinds>(kind: Kind): Kinds[Kind] {
  const [found, another] = manifests.filter((each) => each.kind === kind);
  if (!found || another) throw new Error(`one ${kind} is expected`);
  return found as Kinds[Kind];
}

const pods: IPodSpec[] = [manifest("Job"), manifest("Deployment")].map(
  ({ spec }) => spec?.template.spec as IPodSpec,
);
const [migration, server] = pods.map(({ containers: [container] }) => container);
const settings = manifest("ConfigMap").data ?? {};
const labels = manifest("Deployment").spec?.template.metadata?.labels;

type Manifest = { apiVersion?: string; kind?: string };

/** What the compiler says by the types of the API's own OpenAPI document: unknown and missing members, wrong types and values. */
async function compile(values: readonly Manifest[]): Promise<string[]> {
  const file = join(ROOT, ".cache", `manifests-${process.pid}.ts`);
  const lines = values.map((value, index) => {
    const type = `import("kubernetes-models/${value.apiVersion}/${value.kind}").I${value.kind}`;
    return `export const manifest${index}: ${type} = ${JSON.stringify(value)};\n`;
  });
  await writeFile(file, lines.join(""));
  try {
    const options = {
      strict: true,
      noEmit: true,
      types: [],
      lib: ["lib.es2022.d.ts"],
      skipLibCheck: true,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      module: ts.ModuleKind.ESNext,
    };
    const program = ts.createProgram([file], options);
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  } finally {
    await rm(file);
  }
}

/** The Deployment with another member of its container. */
function withMember(member: Readonly<Record<string, unknown>>): IDeployment {
  const changed = structuredClone(manifest("Deployment"));
  Object.assign(changed.spec?.template.spec?.containers[0] ?? {}, member);
  return changed;
}

describe("the manifests for Kubernetes", () => {
  test("are as the API's own types say, which notice what is not", async () => {
    const wrong = [
      withMember({ readinesProbe: {} }),
      withMember({ imagePullPolicy: "Sometimes" }),
      withMember({ ports: [{ containerPort: "3000" }] }),
      withMember({ volumeMounts: [{ name: "secrets" }] }),
    ];

    expect(await compile(manifests)).toEqual([]);
    expect(await compile(wrong)).toEqual(
      ["readinesProbe", "Sometimes", "number", "mountPath"].map((name) => expect.stringContaining(name)),
    );
  });

  test("give the server settings that it takes, and name its ports and paths", async () => {
    const folder = await folderOfTest();
    const secrets = {
      "database-url": "postgres://refunds@db.example.com/refunds?sslmode=verify-full",
      "encryption-key": randomBytes(32).toString("base64"),
    };
    for (const [name, content] of Object.entries(secrets)) await writeFile(join(folder, name), content);
    const [mount] = server?.volumeMounts ?? [];
    const isSecret = (path: string) => path.startsWith(`${mount?.mountPath}/`);
    const env = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [
        name,
        isSecret(value) ? join(folder, basename(value)) : value,
      ]),
    );
    const config = readConfig({ ...env, MODE: "production" });
    const known = [...(await operate("settings.env")).matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(
      ([, name]) => name,
    );
    const names = [...Object.keys(settings), ...(migration?.env ?? []).map(({ name }) => name)];

    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(server?.ports).toEqual([
      { name: "http", containerPort: config.port },
      { name: "probes", containerPort: config.probePort },
      { name: "metrics", containerPort: config.metricsPort },
    ]);
    const target = ({ httpGet }: IProbe = {}) => `${httpGet?.port}${httpGet?.path}`;
    expect([server?.startupProbe, server?.readinessProbe, server?.livenessProbe].map(target)).toEqual([
      "probes/readyz",
      "probes/readyz",
      "probes/healthz",
    ]);
    expect(config.host).toBe("0.0.0.0");
    expect(manifest("Service").spec?.ports).toMatchObject([{ targetPort: "http" }]);
    // Until it is not ready for Kubernetes, and then for the requests that it has.
    const { periodSeconds = 0, failureThreshold = 0, timeoutSeconds = 0 } = server?.readinessProbe ?? {};
    expect(config.stopDelaySeconds).toBeGreaterThanOrEqual(periodSeconds * failureThreshold + timeoutSeconds);
    expect(pods[1]?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(config.stopDelaySeconds + 15);
    expect(config.highWaterMarkFile?.startsWith(`${server?.volumeMounts?.[1]?.mountPath}/`)).toBe(true);
  });

  test("run the image's user with no rights, on a root that is read only", async () => {
    const [, user] = /^USER (\d+):/m.exec(await operate("Containerfile")) ?? [];
    for (const { securityContext, automountServiceAccountToken, containers, volumes = [] } of pods) {
      expect(securityContext).toEqual({
        runAsNonRoot: true,
        runAsUser: Number(user),
        fsGroup: Number(user),
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(automountServiceAccountToken).toBe(false);
      expect(containers.map((each) => each.securityContext)).toEqual([
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
      ]);
      expect(containers[0]?.volumeMounts?.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    }
    const claims = pods[1]?.volumes?.flatMap(
      ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
    );
    expect(claims).toEqual([manifest("PersistentVolumeClaim").metadata?.name]);
    expect(server?.envFrom?.[0]?.configMapRef?.name).toBe(manifest("ConfigMap").metadata?.name);
    expect(migration?.image).toBe(server?.image);
  });

  test("select the server's pods, and let deliveries reach the addresses that the server allows", () => {
    const policy = manifest("NetworkPolicy").spec;
    const blocks = policy?.egress?.at(-1)?.to?.flatMap(({ ipBlock }) => ipBlock ?? []) ?? [];
    const isIn = (address: string, cidr: string) => {
      const [parsed, range] = [ipaddr.parse(address), ipaddr.parseCIDR(cidr)];
      return parsed.kind() === range[0].kind() && parsed.match(range);
    };
    const allows = (address: string) =>
      blocks.some(
        ({ cidr, except = [] }) => isIn(address, cidr) && !except.some((each) => isIn(address, each)),
      );
    const addresses = [
      "10.1.2.3",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "127.0.0.1",
      "169.254.169.254",
      "100.64.0.1",
      "100.100.100.200",
      "168.63.129.16",
      "0.0.0.0",
      "224.0.0.1",
      "255.255.255.255",
      "::1",
      "fd00:ec2::254",
      "fe80::1",
      "8.8.8.8",
      "172.32.0.1",
      "2606:4700::1111",
    ];

    expect(addresses.filter(allows)).toEqual(
      addresses.filter((address) => isAllowedAddress(address, { allowLocal: false, allowPrivate: false })),
    );
    for (const selected of [
      manifest("Deployment").spec?.selector.matchLabels,
      manifest("Service").spec?.selector,
      manifest("PodDisruptionBudget").spec?.selector?.matchLabels,
      policy?.podSelector?.matchLabels,
    ]) {
      expect(Object.keys(selected ?? {})).not.toEqual([]);
      expect(labels).toMatchObject(selected ?? {});
    }
  });
});
