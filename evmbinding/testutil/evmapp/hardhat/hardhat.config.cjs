// Hardhat with the compiler from npm, on a node of evmappd, whose address run.cjs states.
require("@nomicfoundation/hardhat-ethers");
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require("hardhat/builtin-tasks/task-names");
const { subtask } = require("hardhat/config");

subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async ({ solcVersion }) => {
  const longVersion = require("solc").version().replace(".Emscripten.clang", "");
  if (!longVersion.startsWith(`${solcVersion}+`)) throw new Error(`solc ${longVersion} is installed, not ${solcVersion}`);
  return { compilerPath: require.resolve("solc/soljson.js"), isSolcJs: true, version: solcVersion, longVersion };
});

// A well-known key: it is no secret.
const key = `0x${"1".padStart(64, "0")}`;

module.exports = {
  defaultNetwork: "evmapp",
  solidity: { version: "0.8.30", settings: { evmVersion: "cancun", optimizer: { enabled: true, runs: 200 } } },
  networks: { evmapp: { url: process.env.RPC ?? "http://127.0.0.1:8545", chainId: 9001, accounts: [key] } },
  mocha: { timeout: 120_000 },
};
