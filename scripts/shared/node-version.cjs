// Before each command of npm that runs TypeScript, which an older Node refuses by an error that nobody understands.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `This project needs Node 22.18 or newer, and this is Node ${process.versions.node}: on Linux, npm ci installs one; elsewhere, and on Alpine, install the version in .nvmrc.`,
  );
  process.exit(1);
}
