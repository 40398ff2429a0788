import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import ipaddr from "ipaddr.js";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { ROOT } from "../../../scripts/command/root.ts";
import { readConfig } from "../../../server/config/config.ts";
import { isAllowedAddress } from "../../../server/webhooks/target.ts";
import { folderOfTest } from "../../helpers/suite.ts";

const operate = (name: string) => readFile(join(ROOT, "server/operators/run", name), "utf8");
const text = await operate("kubernetes.yaml");
const manifests = parseAllDocuments(text).map((document) => document.toJS());

function manifest(kind: string) {
  const [found, another] = manifests.filter((each) => each.kind === kind);
  if (!found || another) throw new Error(`one ${kind} is expected`);
  return found;
}

const pods = [manifest("Job"), manifest("Deployment")].map(({ spec }) => spec.template.spec);
const [migration, server] = pods.map(({ containers: [container] }) => container);
const settings: Record<string, string> = manifest("ConfigMap").data;
const { labels } = manifest("Deployment").spec.template.metadata;

describe("the manifests for Kubernetes", () => {
  test("give the server settings that it takes, and name its ports and paths", async () => {
    const folder = await folderOfTest();
    const secrets = {
      "database-url": "postgres://refunds@db.example.com/refunds?sslmode=verify-full",
      "encryption-key": randomBytes(32).toString("base64"),
    };
    for (const [name, content] of Object.entries(secrets)) await writeFile(join(folder, name), content);
    const [secret, marks] = server.volumeMounts;
    const isSecret = (path: string) => path.startsWith(`${secret.mountPath}/`);
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
    const ofMigration: { name: string }[] = migration.env;
    const names = [...Object.keys(settings), ...ofMigration.map(({ name }) => name)];

    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(server.ports).toEqual([
      { name: "http", containerPort: config.port },
      { name: "probes", containerPort: config.probePort },
      { name: "metrics", containerPort: config.metricsPort },
    ]);
    const probes = [server.startupProbe, server.readinessProbe, server.livenessProbe];
    expect(probes.map(({ httpGet }) => `${httpGet.port}${httpGet.path}`)).toEqual([
      "probes/readyz",
      "probes/readyz",
      "probes/healthz",
    ]);
    expect(config.host).toBe("0.0.0.0");
    expect(manifest("Service").spec.ports).toMatchObject([{ targetPort: "http" }]);
    // Until it is not ready for Kubernetes, and then for the requests that it has.
    const { periodSeconds, failureThreshold, timeoutSeconds } = server.readinessProbe;
    expect(config.stopDelaySeconds).toBeGreaterThanOrEqual(periodSeconds * failureThreshold + timeoutSeconds);
    expect(pods[1].terminationGracePeriodSeconds).toBeGreaterThanOrEqual(config.stopDelaySeconds + 15);
    expect(config.highWaterMarkFile?.startsWith(`${marks.mountPath}/`)).toBe(true);
  });

  test("run the image's user with no rights, on a root that is read only", async () => {
    const [, user] = /^USER (\d+):/m.exec(await operate("Containerfile")) ?? [];
    for (const { securityContext, automountServiceAccountToken, containers, volumes } of pods) {
      expect(securityContext).toEqual({
        runAsNonRoot: true,
        runAsUser: Number(user),
        fsGroup: Number(user),
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(automountServiceAccountToken).toBe(false);
      const [{ securityContext: own, volumeMounts }, ...others] = containers;
      expect(others).toEqual([]);
      expect(own).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      const mounted = volumeMounts.map(({ name }: { name: string }) => name);
      expect(volumes).toMatchObject(mounted.map((name: string) => ({ name })));
    }
    const { name } = manifest("PersistentVolumeClaim").metadata;
    expect(pods[1].volumes).toContainEqual(
      expect.objectContaining({ persistentVolumeClaim: { claimName: name } }),
    );
    expect(server.envFrom[0].configMapRef.name).toBe(manifest("ConfigMap").metadata.name);
    expect(migration.image).toBe(server.image);
  });

  test("select the server's pods, and let deliveries reach the addresses that the server allows", () => {
    const policy = manifest("NetworkPolicy").spec;
    const blocks: { cidr: string; except?: string[] }[] = policy.egress
      .at(-1)
      .to.map(({ ipBlock }: { ipBlock: object }) => ipBlock);
    const isIn = (address: string, cidr: string) => {
      const [parsed, range] = [ipaddr.parse(address), ipaddr.parseCIDR(cidr)];
      return parsed.kind() === range[0].kind() && parsed.match(range);
    };
    const allows = (address: string) =>
      blocks.some(
        ({ cidr, except = [] }) => isIn(address, cidr) && !except.some((each) => isIn(address, each)),
      );
    const addresses = [
      ...["10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "127.0.0.1", "169.254.169.254"],
      ...["100.64.0.1", "100.100.100.200", "168.63.129.16", "0.0.0.0", "224.0.0.1", "255.255.255.255"],
      ...["::1", "fd00:ec2::254", "fe80::1", "8.8.8.8", "172.32.0.1", "2606:4700::1111"],
    ];

    expect(addresses.filter(allows)).toEqual(
      addresses.filter((address) => isAllowedAddress(address, { allowLocal: false, allowPrivate: false })),
    );
    for (const selected of [
      manifest("Deployment").spec.selector.matchLabels,
      manifest("Service").spec.selector,
      manifest("PodDisruptionBudget").spec.selector.matchLabels,
      policy.podSelector.matchLabels,
    ]) {
      expect(Object.keys(selected)).not.toEqual([]);
      expect(labels).toMatchObject(selected);
    }
  });
});
