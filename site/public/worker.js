// The worker of the simulator: loads the program once, and runs one file. It posts {loading}, {progress}, {answer} or
// {error}. To stop it, terminate it.
importScripts('wasm_exec.js');

const program = load();

// load fetches the program and says how much of it has come, 0 to 1.
async function load() {
  const answer = await fetch('simulator.wasm');
  if (!answer.ok) throw new Error(`the program of the simulator is missing: ${answer.status}`);
  const size = Number(answer.headers.get('content-length')) || 5_000_000;
  const parts = [];
  let got = 0;
  for (const reader = answer.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    got += value.length;
    postMessage({ loading: Math.min(1, got / size) });
  }
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(await new Blob(parts).arrayBuffer(), go.importObject);
  go.run(instance);
}

onmessage = async ({ data }) => {
  try {
    await program;
    const progress = (text, runs, total) => postMessage({ progress: { text, runs, total } });
    postMessage(JSON.parse(simulate(data, progress)));
  } catch (error) {
    postMessage({ error: String(error.message ?? error) });
  }
};
