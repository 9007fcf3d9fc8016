"""Programs of other people's libraries in float32. They know nothing of duogemm.

A program is a function of the machine that answers a step: a function of nothing, whose result is one array. Weights and data are drawn
from a fixed seed, and nothing is downloaded. A library is imported where it is used, so that a process imports only what it runs.
"""

import pathlib
import tempfile

from contenders import Lazy, graph_of

torch, transformers, torchvision, lightning, gpytorch, botorch, jax, optax, equinox, numpyro = map(Lazy, (
    "torch", "transformers", "torchvision", "lightning", "gpytorch", "botorch", "jax", "optax", "equinox", "numpyro"))
sentence_models, torch_geometric, jnp, linen = map(Lazy, ("sentence_transformers.models", "torch_geometric", "jax.numpy", "flax.linen"))

PROGRAMS = {}


class Machine:
    """Where a program runs, and whether it is a toy there."""

    def __init__(self, small):
        self.small = small
        self.device = "cpu" if small else "cuda"

    def pick(self, full, small):
        return small if self.small else full


def program(about, *modules):
    """Registers a program: what it is, for people, and what it imports, first the library whose arrays its results are."""

    def register(function):
        PROGRAMS[function.__name__] = (about, modules, function)
        return function

    return register


# PyTorch


def training(model, loss_of, **options):
    """A step of AdamW. The loss is the result."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **options)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def captured(machine, step, replays=1):
    """The step in a CUDA graph."""
    if machine.small:
        return step
    graph, result = graph_of(step)

    def replay():
        for _ in range(replays):
            graph.replay()
        return result

    return replay


def words_of(machine, vocabulary, batch=8, length=512):
    return torch.randint(vocabulary, (machine.pick(batch, 2), machine.pick(length, 16)), device=machine.device)


def language_model(machine, kind, config):
    """A model of transformers, and words for it."""
    with torch.device(machine.device):
        return kind(config).train(), words_of(machine, config.vocab_size)


def gpt2(machine):
    """The model, and its inputs."""
    config = transformers.GPT2Config(
        n_layer=machine.pick(8, 1), n_embd=machine.pick(1024, 32), n_head=machine.pick(16, 2), vocab_size=machine.pick(50257, 97),
        n_positions=512, embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0, use_cache=False, bos_token_id=0, eos_token_id=0)
    model, words = language_model(machine, transformers.GPT2LMHeadModel, config)
    return model, {"input_ids": words, "labels": words}


@program("GPT-2 (transformers, 8 layers of 1024), training step", "torch", "transformers")
def gpt2_eager(machine):
    model, inputs = gpt2(machine)
    return training(model, lambda: model(**inputs).loss)


@program("GPT-2, training step, torch.compile reduce-overhead", "torch", "transformers")
def gpt2_compiled(machine):
    model, inputs = gpt2(machine)
    compiled = torch.compile(model, mode="reduce-overhead")

    def loss_of():
        torch.compiler.cudagraph_mark_step_begin()
        return compiled(**inputs).loss

    step = training(model, loss_of)
    return lambda: step().clone()


@program("GPT-2, training step in one CUDA graph", "torch", "transformers")
def gpt2_graph(machine):
    model, inputs = gpt2(machine)
    return captured(machine, training(model, lambda: model(**inputs).loss, capturable=not machine.small))


@program("eight Linear(2048) + GELU, batch 512, in a CUDA graph, ten times", "torch")
def linear_graph(machine):
    width = machine.pick(2048, 32)
    with torch.device(machine.device):
        layers = [layer for _ in range(8) for layer in (torch.nn.Linear(width, width), torch.nn.GELU())]
        model, x = torch.nn.Sequential(*layers), torch.randn(machine.pick(512, 8), width)
    return captured(machine, torch.no_grad()(lambda: model(x)), replays=10)


@program("torch.nn.TransformerEncoder (6 layers of 1024), training step", "torch")
def encoder(machine):
    width, vocabulary = machine.pick(1024, 32), machine.pick(8192, 97)
    with torch.device(machine.device):
        layer = torch.nn.TransformerEncoderLayer(width, machine.pick(16, 2), 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        layers = torch.nn.TransformerEncoder(layer, machine.pick(6, 1), enable_nested_tensor=False)
        model = torch.nn.Sequential(torch.nn.Embedding(vocabulary, width), layers, torch.nn.Linear(width, vocabulary))
    words = words_of(machine, vocabulary)
    target = torch.randint(vocabulary, (words.numel(),), device=machine.device)
    return training(model, lambda: torch.nn.functional.cross_entropy(model(words).flatten(0, 1), target))


@program("Llama (transformers, 8 layers of 1024), training step", "torch", "transformers")
def llama(machine):
    config = transformers.LlamaConfig(
        vocab_size=machine.pick(8192, 97), hidden_size=machine.pick(1024, 32), intermediate_size=machine.pick(2816, 64),
        num_hidden_layers=machine.pick(8, 1), num_attention_heads=machine.pick(16, 2), num_key_value_heads=machine.pick(8, 1),
        max_position_embeddings=512, use_cache=False)
    model, words = language_model(machine, transformers.LlamaForCausalLM, config)
    return training(model, lambda: model(input_ids=words, labels=words).loss)


@program("T5 (transformers, 6 + 6 layers of 768), training step", "torch", "transformers")
def t5(machine):
    config = transformers.T5Config(
        vocab_size=machine.pick(8192, 97), d_model=machine.pick(768, 32), d_kv=machine.pick(64, 16), d_ff=machine.pick(3072, 64),
        num_layers=machine.pick(6, 1), num_heads=machine.pick(12, 2), dropout_rate=0.0, use_cache=False, decoder_start_token_id=0)
    model, words = language_model(machine, transformers.T5ForConditionalGeneration, config)
    labels = words[:, :128].contiguous()  # the model makes a view of them
    return training(model, lambda: model(input_ids=words, labels=labels).loss)


def bert_config(machine, vocabulary):
    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    return transformers.BertConfig(vocab_size=vocabulary, **machine.pick({}, small))


@program("BERT-base (transformers), inference, 32 x 256 words", "torch", "transformers")
def bert(machine):
    with torch.device(machine.device):
        model = transformers.BertModel(bert_config(machine, 30522)).eval()
    words = words_of(machine, 30522, 32, 256)
    return torch.no_grad()(lambda: model(input_ids=words).last_hidden_state)


@program("sentence-transformers on BERT-base, encode of 256 sentences", "torch", "sentence_transformers")
def sentences(machine):
    letters = [chr(letter) for letter in range(ord("a"), ord("z") + 1)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
        transformers.BertModel(bert_config(machine, len(vocabulary))).save_pretrained(folder)
        transformers.BertTokenizerFast(str(path / "vocab.txt")).save_pretrained(folder)
        words = sentence_models.Transformer(folder)
    pooling = sentence_models.Pooling(machine.pick(768, 32))
    model = Lazy("sentence_transformers").SentenceTransformer(modules=[words, pooling], device=machine.device)
    draw = torch.Generator().manual_seed(0)
    texts = [" ".join("".join(letters[i] for i in torch.randint(26, (7,), generator=draw)) for _ in range(machine.pick(16, 2)))
             for _ in range(machine.pick(256, 4))]
    return lambda: model.encode(texts, batch_size=64, convert_to_tensor=True, show_progress_bar=False)


def vision(machine, build, batch, **small):
    with torch.device(machine.device):
        model = build(**machine.pick({}, small)).train()
        images = torch.randn(machine.pick(batch, 2), 3, machine.pick(224, 32), machine.pick(224, 32))
        classes = torch.randint(1000, (len(images),))
    return training(model, lambda: torch.nn.functional.cross_entropy(model(images), classes))


@program("ViT-L/16 (torchvision), training step, batch 32", "torch", "torchvision")
def vit(machine):
    if machine.small:
        sizes = {"image_size": 32, "patch_size": 16, "num_layers": 1, "num_heads": 2, "hidden_dim": 32, "mlp_dim": 64}
        return vision(machine, torchvision.models.VisionTransformer, 2, **sizes)
    return vision(machine, torchvision.models.vit_l_16, 32)


@program("Swin-S (torchvision), training step, batch 32", "torch", "torchvision")
def swin(machine):
    return vision(machine, torchvision.models.swin_t if machine.small else torchvision.models.swin_s, 32)


@program("autoencoder of three layers under lightning's Fabric, training step, batch 4096", "torch", "lightning")
def fabric(machine):
    width, hidden = machine.pick(1024, 32), machine.pick(4096, 64)
    lightning_fabric = lightning.Fabric(accelerator=machine.pick("gpu", "cpu"), devices=1)
    linear, rectified = torch.nn.Linear, torch.nn.ReLU
    layers = [linear(width, hidden), rectified(), linear(hidden, hidden), rectified(), linear(hidden, width)]
    model = torch.nn.Sequential(*layers)
    model, optimizer = lightning_fabric.setup(model, torch.optim.AdamW(model.parameters(), lr=1e-4))
    x = torch.randn(machine.pick(4096, 8), width, device=machine.device)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), x)
        lightning_fabric.backward(loss)
        optimizer.step()
        return loss.detach()

    return step


@program("exact Gaussian process of 6000 points (GPyTorch), training step", "torch", "gpytorch")
def gaussian_process(machine):
    class Exact(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    x = torch.rand(machine.pick(6000, 50), 8, device=machine.device)
    y = torch.sin(4 * x.sum(1)) + 0.1 * torch.randn_like(x[:, 0])
    model = Exact(x, y, gpytorch.likelihoods.GaussianLikelihood()).to(x.device).train()
    likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)

    def loss_of():
        with gpytorch.settings.max_cholesky_size(len(x)):
            return -likelihood(model(x), y)

    return training(model, loss_of)


@program("upper confidence bound on 2000 points (BoTorch), gradient for 2048 pairs", "torch", "botorch")
def acquisition(machine):
    with torch.device(machine.device):
        x, pairs = torch.rand(machine.pick(2000, 30), 6), torch.rand(machine.pick(2048, 3), 2, 6)
    y = torch.sin(4 * x.sum(1, keepdim=True))
    model = botorch.models.SingleTaskGP(x, (y - y.mean()) / y.std())
    model.likelihood.noise = 0.1  # With less, rounding alone changes the gradient by a thousandth.
    sampler = botorch.sampling.SobolQMCNormalSampler(torch.Size([64]), seed=0)
    bound = botorch.acquisition.qUpperConfidenceBound(model, beta=0.2, sampler=sampler)

    def step():
        at = pairs.clone().requires_grad_()
        return torch.autograd.grad(bound(at).sum(), at)[0]

    return step


@program("GraphSAGE (torch-geometric, 20000 nodes, 3 layers of 1024), training step", "torch", "torch_geometric")
def graph_network(machine):
    nodes, width = machine.pick(20000, 50), machine.pick(1024, 16)
    with torch.device(machine.device):
        x, edges, classes = torch.randn(nodes, width), torch.randint(nodes, (2, 3 * nodes)), torch.randint(width, (nodes,))
    model = torch_geometric.nn.GraphSAGE(width, width, 3).to(x.device)
    return training(model, lambda: torch.nn.functional.cross_entropy(model(x, edges), classes))


# CuPy


def cupy_or_numpy(machine):
    return Lazy(machine.pick("cupy", "numpy"))


@program("CuPy, 4000 x 3000 x 3500", "cupy")
def cupy_product(machine):
    xp = cupy_or_numpy(machine)
    m, n, k = machine.pick((4000, 3000, 3500), (40, 30, 35))
    draw = xp.random.default_rng(0)
    a, b = draw.standard_normal((m, k), dtype="float32"), draw.standard_normal((k, n), dtype="float32")
    return lambda: a @ b


@program("polar factor of 2048 x 2048 by Newton and Schulz (CuPy), 8 iterations", "cupy")
def cupy_polar(machine):
    xp = cupy_or_numpy(machine)
    size = machine.pick(2048, 20)
    a = xp.random.default_rng(0).standard_normal((size, size), dtype="float32")

    def step():
        x = a / xp.linalg.norm(a)
        for _ in range(8):
            x = 1.5 * x - 0.5 * x @ (x.T @ x)
        return x

    return step


# JAX


@program("gradient of an MLP of two layers (JAX), batch 8192, 1024 - 4096 - 1024", "jax")
def jax_mlp(machine):
    batch, width, hidden = machine.pick((8192, 1024, 4096), (8, 16, 32))
    keys = jax.random.split(jax.random.key(0), 4)
    weights = [jax.random.normal(keys[0], (width, hidden)) / width**0.5, jax.random.normal(keys[1], (hidden, width)) / hidden**0.5]
    x, y = jax.random.normal(keys[2], (batch, width)), jax.random.normal(keys[3], (batch, width))

    def loss(weights, x, y):
        return jnp.mean((jax.nn.gelu(x @ weights[0]) @ weights[1] - y) ** 2)

    gradient = jax.jit(jax.grad(loss))
    return lambda: gradient(weights, x, y)[0]


def stateful(update, state):
    """A step of a function that answers a new state and a loss."""

    def step():
        nonlocal state
        state, loss = update(state)
        return loss

    return step


def trained_by(optimizer, weights, loss_of):
    """A step of an optimizer of optax. The loss is the result."""

    @jax.jit
    def update(state):
        weights, moments = state
        loss, gradient = jax.value_and_grad(loss_of)(weights)
        change, moments = optimizer.update(gradient, moments, weights)
        return (optax.apply_updates(weights, change), moments), loss

    return stateful(update, (weights, optimizer.init(weights)))


@program("transformer (flax and optax, 4 layers of 1024), training step", "jax", "flax", "optax")
def flax_transformer(machine):
    width = machine.pick(1024, 32)

    class Transformer(linen.Module):
        @linen.compact
        def __call__(self, x):
            for _ in range(machine.pick(4, 1)):
                x = x + linen.MultiHeadDotProductAttention(num_heads=machine.pick(16, 2))(linen.LayerNorm()(x))
                x = x + linen.Dense(width)(linen.gelu(linen.Dense(4 * width)(linen.LayerNorm()(x))))
            return x

    keys = jax.random.split(jax.random.key(0), 3)
    x, y = jax.random.normal(keys[0], (2, machine.pick(8, 2), machine.pick(512, 16), width))
    model, optimizer = Transformer(), optax.adamw(1e-4)
    weights = jax.jit(model.init)(keys[1], x)

    return trained_by(optimizer, weights, lambda w: jnp.mean((model.apply(w, x) - y) ** 2))


@program("MLP of four layers (equinox and optax), training step, batch 4096", "jax", "equinox", "optax")
def equinox_mlp(machine):
    width, hidden, batch = machine.pick((1024, 4096, 4096), (16, 32, 8))
    keys = jax.random.split(jax.random.key(0), 2)
    model = equinox.nn.MLP(width, width, hidden, 3, jax.nn.gelu, key=keys[0])
    x, y = jax.random.normal(keys[1], (2, batch, width))
    optimizer = optax.sgd(1e-3, momentum=0.9)
    weights, form = equinox.partition(model, equinox.is_array)

    return trained_by(optimizer, weights, lambda w: jnp.mean((jax.vmap(equinox.combine(w, form))(x) - y) ** 2))


@program("Bayesian network of 1024 - 4096 - 1 (numpyro), SVI step, 8192 points", "jax", "numpyro")
def bayesian_network(machine):
    points, width, hidden = machine.pick((8192, 1024, 4096), (8, 16, 32))
    keys = jax.random.split(jax.random.key(0), 2)
    x = jax.random.normal(keys[0], (points, width))
    y = jnp.tanh(x[:, 0]) + 0.1 * jax.random.normal(keys[1], (points,))

    def model():
        normal = numpyro.distributions.Normal(0.0, 1.0)
        w = numpyro.sample("w", normal.expand([width, hidden]).to_event(2)) / width**0.5
        v = numpyro.sample("v", normal.expand([hidden]).to_event(1)) / hidden**0.5
        numpyro.sample("y", numpyro.distributions.Normal(jnp.tanh(x @ w) @ v, 0.1).to_event(1), obs=y)

    guide = numpyro.infer.autoguide.AutoNormal(model)
    svi = numpyro.infer.SVI(model, guide, numpyro.optim.Adam(1e-3), numpyro.infer.Trace_ELBO())
    return stateful(jax.jit(svi.update), svi.init(jax.random.key(1)))
