module github.com/cosmos-timers/timers

go 1.26

require (
	cosmossdk.io/api v0.9.2
	cosmossdk.io/client/v2 v2.0.0-beta.11
	cosmossdk.io/collections v1.4.0
	cosmossdk.io/core v0.11.3
	cosmossdk.io/depinject v1.2.1
	cosmossdk.io/errors v1.1.0
	cosmossdk.io/log v1.6.1
	cosmossdk.io/math v1.5.3
	cosmossdk.io/store v1.1.2
	cosmossdk.io/tools/confix v0.1.2
	cosmossdk.io/x/evidence v0.2.0
	cosmossdk.io/x/feegrant v0.2.0
	cosmossdk.io/x/tx v0.14.0
	cosmossdk.io/x/upgrade v0.2.0
	github.com/bytedance/sonic v1.15.2
	github.com/bytedance/sonic/loader v0.5.1
	github.com/cometbft/cometbft v0.38.26
	github.com/cosmos/cosmos-db v1.1.3
	github.com/cosmos/cosmos-proto v1.0.0-beta.5
	github.com/cosmos/cosmos-sdk v0.53.8
	github.com/cosmos/gogoproto v1.7.2
	github.com/cosmos/iavl v1.2.6
	github.com/grpc-ecosystem/grpc-gateway v1.16.0
	pgregory.net/rapid v1.2.0
)

replace (
	// The SDK's own fork: upstream lacks its file-backend fixes.
	github.com/99designs/keyring => github.com/cosmos/keyring v1.2.0
	// CVE-free gin and jwt, as the SDK pins them.
	github.com/gin-gonic/gin => github.com/gin-gonic/gin v1.8.1
	github.com/golang-jwt/jwt/v4 => github.com/golang-jwt/jwt/v4 v4.4.2
	// Later goleveldb loses data on unclean shutdown.
	github.com/syndtr/goleveldb => github.com/syndtr/goleveldb v1.0.1-0.20210819022825-2ae1ddf74ef7
)
