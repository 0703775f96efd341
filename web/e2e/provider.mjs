// An OpenID provider for the tests, with keys that are new at each start. Its client is
// "page", which people may come back to at an address.
//
//	node provider.mjs PORT ADDRESS [jwt]
//
// With jwt its access tokens are JSON Web Tokens for the audience "urn:catalogue".
import { generateKeyPairSync } from 'node:crypto';
import { Provider } from 'oidc-provider';

const [port, address, format] = process.argv.slice(2);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const resources = {
  enabled: true,
  defaultResource: () => 'urn:catalogue',
  useGrantedResource: () => true,
  getResourceServerInfo: () => ({ scope: 'catalogue:write', accessTokenFormat: 'jwt', accessTokenTTL: 3600 }),
};

new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: 'page', token_endpoint_auth_method: 'none', redirect_uris: [address], grant_types: ['authorization_code'], response_types: ['code'] }],
  clientBasedCORS: () => true,
  scopes: ['openid', 'profile', 'catalogue:write'],
  claims: { profile: ['name'] },
  conformIdTokenClaims: false,
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, name: `${sub} of the tests` }) }),
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: crypto.randomUUID() }] },
  cookies: { keys: ['of the tests'] },
  features: format === 'jwt' ? { resourceIndicators: resources } : {},
}).listen(Number(port), '127.0.0.1', () => console.log('listening'));
