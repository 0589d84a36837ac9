// Timers of the account of a browser's wallet: what they do, when and why not, and how they are scheduled and changed.
// The node is the page's own: see local and nodeOf.
import { GasPrice, SigningStargateClient } from "@cosmjs/stargate";
import { type Planned, type Sending, type TimerInfo, TimersClient, reasonIn, timersAminoTypes, timersRegistry } from "@cosmos-timers/timers";
import { type Action, type Entered, type Review, type Row, Viewer, allowed, description, jobOf, kinds, nodeOf, signerOf, walletsIn } from "./logic.js";

/** local is the node of a local network. Who serves the page for another chain names its node here and in index.html. */
const local = { rpc: "http://127.0.0.1:27001", rest: "http://127.0.0.1:27002" };
const denom = "utmr";
/** refreshMs is how often the list is read again: a timer may wait for another reason without an event. */
const refreshMs = 5_000;

const at = <T extends HTMLElement>(selector: string, within: ParentNode = document): T => within.querySelector<T>(selector)!;
const form = at<HTMLFormElement>("#job");

/** Everything that comes from the chain is shown as text: no part of it is read as HTML. */
function say(selector: string, text: string): void {
  const place = at(selector);
  if (place.textContent !== text) place.textContent = text;
}

/** attempt shows why something failed: the wallet's reason, or the chain's. */
async function attempt(what: () => Promise<void>): Promise<void> {
  say("#problem", "");
  try {
    await what();
  } catch (error) {
    if (!(error instanceof Declined)) say("#problem", reasonIn(error instanceof Error ? error.message : String(error)));
  }
}

/** Declined is thrown where the user goes back instead of signing. */
class Declined extends Error {}

/** Session is one account. It ends when the wallet changes to another one. */
interface Session {
  timers: TimersClient;
  viewer: Viewer;
  owner: string;
  signal: AbortSignal;
}

let session: Session | undefined;
let ending = new AbortController();

async function connect(): Promise<void> {
  const { rpc, rest } = nodeOf(location.href, local);
  const wallets = walletsIn(window);
  const wallet = wallets[at<HTMLSelectElement>("#wallet").value] ?? Object.values(wallets)[0];
  if (!wallet) throw new Error("This browser has no wallet: install Keplr, Leap, or one with their interface.");
  const chainId = (await (await TimersClient.connect(rpc)).comet.status()).nodeInfo.network;
  await wallet.experimentalSuggestChain(description(chainId, denom, rpc, rest));
  const signer = await signerOf(wallet, chainId);
  const registry = timersRegistry();
  const signing = await SigningStargateClient.connectWithSigner(rpc, signer, {
    registry, aminoTypes: timersAminoTypes(registry), gasPrice: GasPrice.fromString("0.001" + denom),
  });
  const timers = await TimersClient.connect(rpc, signing);
  const [{ address: owner }] = await signer.getAccounts();

  ending.abort();
  ending = new AbortController();
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const here: Session = { timers, owner, viewer: new Viewer(timers, owner, zone), signal: ending.signal };
  session = here;
  say("#account", owner);
  say("#connect", "Connect another account");
  at("#timers").replaceChildren();
  rows.clear();
  at<HTMLButtonElement>("#submit").disabled = false;
  void attempt(() => follow(here));
  void refreshing(here);
}

/** sending shows what is to be signed and waits for a yes; then it says how far the transaction is. */
function sending({ viewer }: Session, zone?: string): Sending {
  return {
    confirm: async (planned: Planned) => {
      say("#progress", "");
      if (!(await confirmed(await viewer.review(planned, zone)))) throw new Declined("not signed");
      say("#progress", "The wallet asks for your signature.");
    },
    onSent: ({ hash }) => say("#progress", `Sent, and waits for a block: transaction ${hash}`),
  };
}

/** confirmed shows a review, and whether it was agreed to. The browser keeps the focus within the dialog. */
function confirmed({ does, costs, next, objections }: Review): Promise<boolean> {
  const dialog = at<HTMLDialogElement>("#review");
  for (const [place, lines] of [["#review-does", does], ["#review-costs", costs], ["#review-next", next], ["#review-objections", objections]] as const) {
    at(place).replaceChildren(...lines.map((line) => item(line)));
  }
  at("#objections").hidden = objections.length === 0;
  say("#sign", objections.length === 0 ? "Sign in the wallet" : "Sign in the wallet all the same");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "sign"), { once: true }));
}

function item(text: string): HTMLLIElement {
  const line = document.createElement("li");
  line.textContent = text;
  return line;
}

/** busy is true from the press of a button until its transaction has an end: one at a time, which the sequence needs. */
let busy = false;

async function change(what: (session: Session, options: Sending) => Promise<unknown>, done: string, zone?: string): Promise<void> {
  const here = session;
  if (!here) return;
  if (busy) {
    say("#problem", "One transaction at a time: wait until the last one has an end.");
    return;
  }
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    say("#progress", "Asking the chain what this costs.");
    await attempt(async () => {
      await what(here, sending(here, zone));
      say("#progress", done);
    });
    if (at("#progress").textContent !== done) say("#progress", "");
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
  await refresh(here);
}

const verbs: Record<Action, [text: string, done: string]> = {
  skip: ["Skip next", "Skipped."], run: ["Run now", "It is due in the next block."], pause: ["Pause", "Paused."],
  resume: ["Resume", "Resumed."], cancel: ["Cancel", "Cancelled."],
};

/** nextOf is the occurrence that is shown as the next one, by the timer: a skip lets no other pass. */
const nextOf = new Map<string, bigint>();

function act(action: Action, id: string): Promise<void> {
  return change(({ timers, owner }, options) => {
    switch (action) {
      case "skip": return timers.skip(owner, id, 1, "auto", { from: nextOf.get(id), ...options });
      case "run": return timers.run(owner, id, "auto", options);
      case "pause": return timers.pause(owner, id, "auto", options);
      case "resume": return timers.resume(owner, id, { at: "now", ...options });
      case "cancel": return timers.cancel(owner, [id], "auto", options);
    }
  }, verbs[action][1]);
}

/** follow shows each event of the account's timers, and the timers as they are after it. */
async function follow(here: Session): Promise<void> {
  for await (const { type, height, id, attributes } of here.timers.follow(here.owner, { signal: here.signal })) {
    const outcome = type !== "TimerFired" ? "" : attributes.success ? ": it succeeded" : ": it failed";
    at("#events").prepend(item(`block ${height}: ${type} ${id.slice(0, 8)} ${attributes.name ?? ""}${outcome}`));
    await refresh(here);
  }
}

async function refreshing(here: Session): Promise<void> {
  while (!here.signal.aborted) {
    if (!document.hidden) await refresh(here);
    await new Promise((resolve) => setTimeout(resolve, refreshMs));
  }
}

/** rows are what is shown of each timer. They are changed in place, so that the focus stays where it is. */
const rows = new Map<string, HTMLElement>();

/** refresh reads the list. A node that is away is said, and what is known stays. */
async function refresh(here: Session): Promise<void> {
  try {
    const found = await here.viewer.rows();
    if (here.signal.aborted) return;
    say("#state", found.length === 0 ? "No timers." : `${found.length} timers, read ${new Date().toLocaleTimeString()}.`);
    show(found);
  } catch (error) {
    if (!here.signal.aborted) say("#state", `The list may be old: ${(error as Error).message}`);
  }
}

function show(found: { timer: TimerInfo; row: Row; from: bigint }[]): void {
  const list = at("#timers");
  const ids = new Set(found.map(({ timer }) => timer.id));
  for (const [id, row] of rows) {
    if (ids.has(id)) continue;
    if (row.contains(document.activeElement)) list.focus(); // what had the focus leaves
    row.remove();
    rows.delete(id);
    nextOf.delete(id);
  }
  found.forEach(({ timer, row, from }, i) => {
    nextOf.set(timer.id, from);
    let line = rows.get(timer.id);
    if (!line) {
      line = made(timer.id);
      rows.set(timer.id, line);
    }
    for (const [field, value] of Object.entries(row)) {
      const place = at(`[data-field=${field}]`, line);
      const text = Array.isArray(value) ? value.join("\n") : value;
      if (place.textContent !== text) place.textContent = text;
    }
    const may = allowed(timer);
    line.querySelectorAll("button").forEach((button) => {
      const action = button.value as Action;
      // Not the attribute disabled, which would take the focus from a button that was just pressed.
      button.setAttribute("aria-disabled", String(!may[action]));
      button.setAttribute("aria-label", `${verbs[action][0]}: ${row.name}`);
    });
    if (list.children[i] !== line) list.insertBefore(line, list.children[i] ?? null);
  });
}

function made(id: string): HTMLElement {
  const line = at<HTMLTemplateElement>("#row").content.firstElementChild!.cloneNode(true) as HTMLElement;
  for (const [action, [text]] of Object.entries(verbs)) {
    const button = document.createElement("button");
    button.type = "button";
    button.value = action;
    button.textContent = text;
    button.onclick = () => {
      if (button.getAttribute("aria-disabled") !== "true") void act(action as Action, id);
    };
    at(".actions", line).append(button);
  }
  return line;
}

/** fit shows the fields that a way to repeat needs. The others keep their place, so that nothing moves. */
function fit(): void {
  const kind = String(new FormData(form).get("kind"));
  const wanted: readonly string[] = kinds[kind as keyof typeof kinds];
  const optional = kind === "once" ? [] : ["count"];
  for (const name of ["date", "hour", "day", "blocks", "count"]) {
    const input = at<HTMLInputElement>(`[name=${name}]`, form);
    input.disabled = ![...wanted, ...optional].includes(name);
    input.required = wanted.includes(name);
    input.closest("label")!.classList.toggle("off", input.disabled);
  }
  // What is due once has no next time to which it could skip: the chain refuses that.
  const unfunded = at<HTMLSelectElement>("[name=onUnfunded]", form);
  at<HTMLOptionElement>("[value=skip]", unfunded).disabled = kind === "once";
  if (kind === "once" && unfunded.value === "skip") unfunded.value = "suspend";
}

function entered(): Entered {
  const data = new FormData(form);
  const text = (name: string): string => String(data.get(name) ?? "");
  return {
    kind: text("kind"), recipient: text("recipient"), amount: text("amount"), zone: text("zone"), date: text("date"),
    hour: text("hour"), day: text("day"), blocks: text("blocks"), count: text("count"), until: text("until"),
    onUnfunded: text("onUnfunded"), maxCharge: text("maxCharge"), name: text("name"),
  };
}

form.addEventListener("change", fit);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const stated = entered();
  void change(({ timers, owner }, options) => timers.schedule(owner, jobOf(stated, owner, denom), "auto", options), "Scheduled.",
    stated.zone.trim() || undefined);
});
at<HTMLInputElement>("[name=zone]").value = new Intl.DateTimeFormat().resolvedOptions().timeZone;
at("#zones").append(...["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => new Option(zone, zone)));
at("#connect").onclick = () => void attempt(connect);
// Wallets come after the page has loaded, at the latest then.
const offer = (): void => {
  const select = at<HTMLSelectElement>("#wallet");
  select.replaceChildren(...Object.keys(walletsIn(window)).map((name) => new Option(name, name)));
  if (select.options.length === 0) select.append(new Option("none found", ""));
};
window.addEventListener("load", offer);
for (const changed of ["keplr_keystorechange", "leap_keystorechange"]) {
  window.addEventListener(changed, () => {
    if (session) void attempt(connect);
  });
}
fit();
