// What differs between two answers of the gateway and is worth a word.
const policies = (state) => Object.entries(state.policies ?? {});

/** Sentences on servers that came or went, policies that changed, and functions that are new. */
export const changes = (before, after) => {
  if (!before) return [];
  if (after.uptime_s < before.uptime_s) return ["The platform was started anew."];
  const said = [];
  const alive = new Map(before.servers.map((server) => [server.name, server.alive]));
  after.servers.forEach(({ name, alive: up }) => {
    if (alive.has(name) && alive.get(name) !== up) said.push(`${name} is ${up ? "up again" : "down"}.`);
  });
  policies(after).forEach(([decision, policy]) => {
    if (before.policies[decision] !== policy) said.push(`${decision} is now decided by ${policy ?? "nobody"}.`);
  });
  const known = new Set(before.functions.map((each) => each.name));
  after.functions
    .filter((each) => !known.has(each.name))
    .forEach((each) => said.push(`Function ${each.name} is deployed.`));
  const guards = Object.keys(after.guards ?? {}).filter(
    (reason) => !(before.guards ?? {})[reason] && after.guards[reason],
  );
  guards.forEach((reason) => said.push(`A guard stepped in: ${reason}.`));
  return said;
};
