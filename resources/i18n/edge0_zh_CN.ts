<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Application</name>
    <message>
        <source>The chats could not be read. The damaged file was kept as {0}; a new one was made.</source>
        <translation>无法读取聊天记录。损坏的文件已保留为 {0}，并新建了一个。</translation>
    </message>
    <message>
        <source>Some settings could not be read and are back to their defaults: {0}</source>
        <translation>部分设置无法读取，已恢复默认值：{0}</translation>
    </message>
</context>
<context>
    <name>Archive</name>
    <message>
        <source>This chat cannot be saved now ({0}).</source>
        <translation>这段对话现在无法保存（{0}）。</translation>
    </message>
    <message>
        <source>Free some space; what was not saved is kept and saved then.</source>
        <translation>请释放一些空间；尚未保存的内容会保留，届时自动保存。</translation>
    </message>
</context>
<context>
    <name>ChatPage</name>
    <message>
        <source>The reply is finished</source>
        <translation>回复已完成</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
</context>
<context>
    <name>ChatView</name>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
</context>
<context>
    <name>CodeText</name>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
</context>
<context>
    <name>CodeView</name>
    <message>
        <source>Copy code</source>
        <translation>复制代码</translation>
    </message>
    <message>
        <source>code</source>
        <translation>代码</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>输入消息</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
</context>
<context>
    <name>DefenderPage</name>
    <message>
        <source>Windows Defender (optional)</source>
        <translation>Windows Defender（可选）</translation>
    </message>
    <message>
        <source>Defender may scan the files of experts when they are read, and replies then stall for a second or three. You can exclude these files, and only these, from scanning. It costs some protection: a file with this ending in this place is no longer looked at. Programs are still scanned. Everything works without it.</source>
        <translation>Defender 可能在读取专家文件时进行扫描，回复会因此停顿一到三秒。您可以把这些文件（且仅这些文件）排除在扫描之外。代价是少一些保护：此处带有此扩展名的文件不再被检查。程序仍会被扫描。不排除也一切正常。</translation>
    </message>
    <message>
        <source>Measure the pause (a few seconds)</source>
        <translation>测量停顿（几秒钟）</translation>
    </message>
    <message>
        <source>Exclude (Windows asks for permission)</source>
        <translation>排除（Windows 会请求许可）</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>排除项</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Writing a new file and opening it…</source>
        <translation>正在写入并打开一个新文件…</translation>
    </message>
    <message>
        <source>A new file opened after {0}, the second time after {1}.</source>
        <translation>新文件首次打开用时 {0}，第二次 {1}。</translation>
    </message>
    <message>
        <source>Nobody holds files up here: no exclusion is needed.</source>
        <translation>这里没有程序拖慢文件：不需要排除。</translation>
    </message>
    <message>
        <source>Something scans new files first; an exclusion may help.</source>
        <translation>有程序会先扫描新文件；排除可能有帮助。</translation>
    </message>
</context>
<context>
    <name>DoctorDialog</name>
    <message>
        <source>Check this computer</source>
        <translation>检查这台电脑</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>检查结果</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>重新检查</translation>
    </message>
    <message>
        <source>Save diagnostics…</source>
        <translation>保存诊断信息…</translation>
    </message>
    <message>
        <source>A zip file for asking for help: findings, settings and logs, no chats</source>
        <translation>用于求助的 zip 文件：检查结果、设置和日志，不含聊天内容</translation>
    </message>
    <message>
        <source>It could not be saved: {0}</source>
        <translation>无法保存：{0}</translation>
    </message>
    <message>
        <source>Saved as {0}. Look into it before you send it.</source>
        <translation>已保存为 {0}。发送之前请先查看内容。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Save diagnostics</source>
        <translation>保存诊断信息</translation>
    </message>
</context>
<context>
    <name>DownloadsPage</name>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Hub</source>
        <translation>模型库</translation>
    </message>
    <message>
        <source>A hub, or its mirror</source>
        <translation>模型库或其镜像</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>代理</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>令牌</translation>
    </message>
    <message>
        <source>What cannot be an address is not saved.</source>
        <translation>不是有效地址的内容不会保存。</translation>
    </message>
    <message>
        <source>Keep models in</source>
        <translation>模型存放于</translation>
    </message>
</context>
<context>
    <name>Engine</name>
    <message>
        <source> ({0} of {1})</source>
        <translation>（{1} 个中的 {0} 个）</translation>
    </message>
    <message>
        <source> ({0})</source>
        <translation>（{0}）</translation>
    </message>
    <message>
        <source> This file system only reads through its cache.</source>
        <translation>此文件系统只能通过缓存读取。</translation>
    </message>
    <message>
        <source> and {0} more</source>
        <translation>，另有 {0} 处</translation>
    </message>
    <message>
        <source>, limited from {0}</source>
        <translation>（上限，物理内存 {0}）</translation>
    </message>
    <message>
        <source>A budget that holds more experts, or an NVMe SSD, will help most.</source>
        <translation>能容纳更多专家的内存预算，或 NVMe 固态硬盘，帮助最大。</translation>
    </message>
    <message>
        <source>A check could not be made</source>
        <translation>有一项检查无法进行</translation>
    </message>
    <message>
        <source>A drive of unknown speed</source>
        <translation>速度未知的硬盘</translation>
    </message>
    <message>
        <source>A few thousand words are plenty.</source>
        <translation>几千个词就足够了。</translation>
    </message>
    <message>
        <source>A folder&apos;s name ends in a dot or a space.</source>
        <translation>文件夹名称以点或空格结尾。</translation>
    </message>
    <message>
        <source>A message has the role {0}.</source>
        <translation>有一条消息的角色是 {0}。</translation>
    </message>
    <message>
        <source>A removable drive</source>
        <translation>可移动硬盘</translation>
    </message>
    <message>
        <source>A slow kind of drive</source>
        <translation>较慢的硬盘类型</translation>
    </message>
    <message>
        <source>A weight has block scales that {0} cannot hold.</source>
        <translation>有一个权重的块缩放值无法用 {0} 表示。</translation>
    </message>
    <message>
        <source>A whole drive is never excluded.</source>
        <translation>绝不排除整个磁盘。</translation>
    </message>
    <message>
        <source>Another antivirus is in charge here, or Defender is switched off (it says: {0}). An exclusion in Defender changes nothing: use the other program&apos;s own settings.</source>
        <translation>这里由其他杀毒软件负责，或 Defender 已关闭（状态：{0}）。在 Defender 中排除不起作用：请使用那个软件自己的设置。</translation>
    </message>
    <message>
        <source>Another conversion is writing {0} right now.</source>
        <translation>另一个转换正在写入 {0}。</translation>
    </message>
    <message>
        <source>Another download is writing {0} right now.</source>
        <translation>另一个下载正在写入 {0}。</translation>
    </message>
    <message>
        <source>Below 8 GB only small models run well: the dense weights alone may not fit.</source>
        <translation>低于 8 GB 时只有小模型运行良好：仅稠密权重就可能放不下。</translation>
    </message>
    <message>
        <source>Cancel this download and start it again, perhaps from another hub address.</source>
        <translation>请取消此下载并重新开始，也可以换一个模型库地址。</translation>
    </message>
    <message>
        <source>Change the conversation as it asks, or start a new chat.</source>
        <translation>请按提示修改对话，或新建聊天。</translation>
    </message>
    <message>
        <source>Check that the drive is connected and healthy.</source>
        <translation>请检查硬盘是否已连接且正常。</translation>
    </message>
    <message>
        <source>Check that the drive is connected and that you may read the folder.</source>
        <translation>请检查硬盘是否已连接，以及是否有权读取该文件夹。</translation>
    </message>
    <message>
        <source>Check that the drive is connected and the files may be read.</source>
        <translation>请检查硬盘是否已连接，以及文件是否可读。</translation>
    </message>
    <message>
        <source>Check that this computer is online, then try again. If other pages open, check the proxy and the hub&apos;s address; a mirror may be reachable.</source>
        <translation>请确认本机已联网，然后重试。如果其他网页能打开，请检查代理和模型库地址；也许可以换用镜像。</translation>
    </message>
    <message>
        <source>Check that this computer is online. {0}</source>
        <translation>请确认本机已联网。{0}</translation>
    </message>
    <message>
        <source>Check the drive and the permissions.</source>
        <translation>请检查硬盘和访问权限。</translation>
    </message>
    <message>
        <source>Check the drive, then try again; if it stays, check the model&apos;s files or convert the model again.</source>
        <translation>请检查硬盘后重试；如果仍然如此，请检查模型文件或重新转换模型。</translation>
    </message>
    <message>
        <source>Check the health of the drive. The model itself is unchanged.</source>
        <translation>请检查硬盘的健康状况。模型本身没有变化。</translation>
    </message>
    <message>
        <source>Check the hub&apos;s address, and whether the network asks for a login first.</source>
        <translation>请检查模型库地址，以及网络是否要求先登录。</translation>
    </message>
    <message>
        <source>Check the hub&apos;s address.</source>
        <translation>请检查模型库地址。</translation>
    </message>
    <message>
        <source>Check the model&apos;s name and the hub.</source>
        <translation>请检查模型名称和模型库。</translation>
    </message>
    <message>
        <source>Check the name, and the hub&apos;s address.</source>
        <translation>请检查名称和模型库地址。</translation>
    </message>
    <message>
        <source>Check the name.</source>
        <translation>请检查名称。</translation>
    </message>
    <message>
        <source>Check the name. If the model is private, log in: {0}.</source>
        <translation>请检查名称。如果是私有模型，请登录：{0}。</translation>
    </message>
    <message>
        <source>Check the name. Models that need a login come only from huggingface.co itself: tokens are never sent to a mirror.</source>
        <translation>请检查名称。需要登录的模型只能来自 huggingface.co 本身：令牌绝不会发送给镜像。</translation>
    </message>
    <message>
        <source>Check the network, or the index or mirror in pip&apos;s settings, and try again.</source>
        <translation>请检查网络，或 pip 设置中的软件源或镜像，然后重试。</translation>
    </message>
    <message>
        <source>Check the revision&apos;s name.</source>
        <translation>请检查版本名称。</translation>
    </message>
    <message>
        <source>Check where the model comes from; this file should be small.</source>
        <translation>请检查模型的来源；此文件本应很小。</translation>
    </message>
    <message>
        <source>Choose 4k, 16k or 64k.</source>
        <translation>请选择 4k、16k 或 64k。</translation>
    </message>
    <message>
        <source>Choose a .gguf model file.</source>
        <translation>请选择 .gguf 模型文件。</translation>
    </message>
    <message>
        <source>Choose a BF16 version of the model, or a GGUF.</source>
        <translation>请选择此模型的 BF16 版本，或 GGUF 文件。</translation>
    </message>
    <message>
        <source>Choose a converted model&apos;s folder.</source>
        <translation>请选择已转换模型的文件夹。</translation>
    </message>
    <message>
        <source>Choose a drive with NTFS, exFAT, APFS or ext4.</source>
        <translation>请选择 NTFS、exFAT、APFS 或 ext4 格式的硬盘。</translation>
    </message>
    <message>
        <source>Choose a file of GGUF version 3.</source>
        <translation>请选择 GGUF 第 3 版的文件。</translation>
    </message>
    <message>
        <source>Choose a folder that Edge0 has converted, or convert the model first.</source>
        <translation>请选择由 Edge0 转换过的文件夹，或先转换模型。</translation>
    </message>
    <message>
        <source>Choose a folder with .safetensors files, or a .gguf file.</source>
        <translation>请选择含 .safetensors 文件的文件夹，或 .gguf 文件。</translation>
    </message>
    <message>
        <source>Choose a new folder as the target.</source>
        <translation>请选择一个新文件夹作为目标。</translation>
    </message>
    <message>
        <source>Choose a new folder, or add --overwrite to replace it.</source>
        <translation>请选择新文件夹，或加上 --overwrite 替换它。</translation>
    </message>
    <message>
        <source>Choose a smaller model: this machine has too little memory for this one.</source>
        <translation>请选择更小的模型：这台电脑的内存不够运行它。</translation>
    </message>
    <message>
        <source>Choose a version of the model in a common type, such as Q4_0, Q8_0 or Q4_K_M.</source>
        <translation>请选择此模型的常见类型版本，例如 Q4_0、Q8_0 或 Q4_K_M。</translation>
    </message>
    <message>
        <source>Choose a version of the model with .safetensors files.</source>
        <translation>请选择此模型带 .safetensors 文件的版本。</translation>
    </message>
    <message>
        <source>Choose a version of the model with .safetensors or .gguf files.</source>
        <translation>请选择此模型带 .safetensors 或 .gguf 文件的版本。</translation>
    </message>
    <message>
        <source>Choose a version stored as BF16, F16 or F32, or a common GGUF type such as Q4_K_M.</source>
        <translation>请选择以 BF16、F16 或 F32 存储的版本，或常见的 GGUF 类型，例如 Q4_K_M。</translation>
    </message>
    <message>
        <source>Choose another folder for models. On Windows, &apos;Controlled folder access&apos; blocks programs from writing to Documents and similar folders.</source>
        <translation>请为模型选择其他文件夹。在 Windows 上，“受控文件夹访问”会阻止程序写入“文档”等文件夹。</translation>
    </message>
    <message>
        <source>Choose another folder, or change its permissions.</source>
        <translation>请选择其他文件夹，或更改其权限。</translation>
    </message>
    <message>
        <source>Choose another folder, or delete that one.</source>
        <translation>请选择其他文件夹，或删除那一个。</translation>
    </message>
    <message>
        <source>Choose another folder.</source>
        <translation>请选择其他文件夹。</translation>
    </message>
    <message>
        <source>Choose another model, or fetch this one again if it should work.</source>
        <translation>请选择其他模型；如果这个模型本应可用，请重新获取。</translation>
    </message>
    <message>
        <source>Choose another name for this one, or remove the old one first.</source>
        <translation>请换一个名称，或先删除旧的。</translation>
    </message>
    <message>
        <source>Choose another version of the model, or update Edge0.</source>
        <translation>请选择此模型的其他版本，或更新 Edge0。</translation>
    </message>
    <message>
        <source>Choose another version of the model.</source>
        <translation>请选择此模型的其他版本。</translation>
    </message>
    <message>
        <source>Choose one of the .gguf files itself.</source>
        <translation>请直接选择其中一个 .gguf 文件。</translation>
    </message>
    <message>
        <source>Choose one of the two.</source>
        <translation>请二者选一。</translation>
    </message>
    <message>
        <source>Choose one of these types: {0}.</source>
        <translation>请选择以下类型之一：{0}。</translation>
    </message>
    <message>
        <source>Choose one of {0}.</source>
        <translation>请从 {0} 中选择。</translation>
    </message>
    <message>
        <source>Choose one of: {0}.</source>
        <translation>请选择其中之一：{0}。</translation>
    </message>
    <message>
        <source>Choose the model&apos;s files.</source>
        <translation>请选择模型文件。</translation>
    </message>
    <message>
        <source>Choose the original (BF16) version, or a GGUF.</source>
        <translation>请选择原始（BF16）版本，或 GGUF 文件。</translation>
    </message>
    <message>
        <source>Close Edge0 everywhere and try again.</source>
        <translation>请关闭所有 Edge0 后重试。</translation>
    </message>
    <message>
        <source>Close other programs or lower the memory budget, or the machine will crawl.</source>
        <translation>请关闭其他程序或降低内存预算，否则电脑会非常慢。</translation>
    </message>
    <message>
        <source>Close other programs, or lower the memory budget.</source>
        <translation>请关闭其他程序，或降低内存预算。</translation>
    </message>
    <message>
        <source>Close other programs.</source>
        <translation>关闭其他程序。</translation>
    </message>
    <message>
        <source>Convert it first: edge0 prepare --model &quot;{0}&quot; --out FOLDER.</source>
        <translation>请先转换：edge0 prepare --model &quot;{0}&quot; --out FOLDER。</translation>
    </message>
    <message>
        <source>Convert it in the number format bf16 (--quant bf16).</source>
        <translation>请用数值格式 bf16 转换（--quant bf16）。</translation>
    </message>
    <message>
        <source>Convert or download the model again.</source>
        <translation>请重新转换或下载模型。</translation>
    </message>
    <message>
        <source>Convert the model again.</source>
        <translation>请重新转换模型。</translation>
    </message>
    <message>
        <source>Copy it again from {0}.</source>
        <translation>请从 {0} 重新复制。</translation>
    </message>
    <message>
        <source>Copy the folder instead.</source>
        <translation>请改为复制该文件夹。</translation>
    </message>
    <message>
        <source>Count with this model.</source>
        <translation>请用此模型统计。</translation>
    </message>
    <message>
        <source>Delete the old folder, or keep both.</source>
        <translation>请删除旧文件夹，或两者都保留。</translation>
    </message>
    <message>
        <source>Direct</source>
        <translation>直接</translation>
    </message>
    <message>
        <source>Disk space</source>
        <translation>磁盘空间</translation>
    </message>
    <message>
        <source>Do not unplug it while a model is open.</source>
        <translation>模型打开时请勿拔出。</translation>
    </message>
    <message>
        <source>Downloading {0} failed. {1}</source>
        <translation>下载 {0} 失败。{1}</translation>
    </message>
    <message>
        <source>Downloading {0} failed: {1}.</source>
        <translation>下载 {0} 失败：{1}。</translation>
    </message>
    <message>
        <source>Drive</source>
        <translation>硬盘</translation>
    </message>
    <message>
        <source>Drive temperature</source>
        <translation>硬盘温度</translation>
    </message>
    <message>
        <source>Every byte is intact</source>
        <translation>每个字节都完好</translation>
    </message>
    <message>
        <source>Every byte was compared on {0}.</source>
        <translation>已于 {0} 比对每一个字节。</translation>
    </message>
    <message>
        <source>Every token uses all of it, so nothing can stay on the drive: it runs well only when it fits into memory whole. Streaming helps Mixture-of-Experts models.</source>
        <translation>每个词元都要用到整个模型，因此没有部分可以留在硬盘上：只有内存能完整放下时才运行良好。流式读取对混合专家模型才有帮助。</translation>
    </message>
    <message>
        <source>Every token would wait for the network. Move the models to a local SSD.</source>
        <translation>每个词元都要等待网络。请把模型移到本地固态硬盘。</translation>
    </message>
    <message>
        <source>Expect a fraction of the usual speed: use a small model.</source>
        <translation>速度只有平常的几分之一：请使用小模型。</translation>
    </message>
    <message>
        <source>Experts in memory</source>
        <translation>内存中的专家</translation>
    </message>
    <message>
        <source>Far too slow for streaming experts: move the model to an NVMe SSD.</source>
        <translation>对流式读取专家来说太慢：请把模型移到 NVMe 固态硬盘。</translation>
    </message>
    <message>
        <source>Far too slow for streaming experts: the first reply can take minutes. Move the models to an NVMe SSD.</source>
        <translation>对流式读取专家来说太慢：第一次回复可能要几分钟。请把模型移到 NVMe 固态硬盘。</translation>
    </message>
    <message>
        <source>Fetch the complete model again.</source>
        <translation>请重新获取完整的模型。</translation>
    </message>
    <message>
        <source>Fetch the complete model.</source>
        <translation>请获取完整的模型。</translation>
    </message>
    <message>
        <source>Fetch the missing file.</source>
        <translation>请获取缺少的文件。</translation>
    </message>
    <message>
        <source>Fetch the missing part.</source>
        <translation>请获取缺少的部分。</translation>
    </message>
    <message>
        <source>Fetch the parts of one model again.</source>
        <translation>请重新获取同一个模型的各个部分。</translation>
    </message>
    <message>
        <source>Fetch the starter with: edge0 starter</source>
        <translation>请获取入门模型：edge0 starter</translation>
    </message>
    <message>
        <source>Files changed since they were checked</source>
        <translation>文件在检查之后有变化</translation>
    </message>
    <message>
        <source>Folders where other programs put files are never excluded.</source>
        <translation>其他程序存放文件的文件夹绝不排除。</translation>
    </message>
    <message>
        <source>Free memory</source>
        <translation>可用内存</translation>
    </message>
    <message>
        <source>Free some space and run the same command again: it goes on where it stopped.</source>
        <translation>请腾出空间后再次执行：会从停下的地方继续。</translation>
    </message>
    <message>
        <source>Free some space or choose another drive; what was fetched is kept.</source>
        <translation>请腾出空间或选择其他硬盘；已下载的部分会保留。</translation>
    </message>
    <message>
        <source>Free some space or choose another folder for models.</source>
        <translation>请腾出空间，或为模型选择其他文件夹。</translation>
    </message>
    <message>
        <source>Free some space there, and check that you may write there; then start again.</source>
        <translation>请在那里腾出空间，并确认您有写入权限，然后重新启动。</translation>
    </message>
    <message>
        <source>Free some space.</source>
        <translation>请腾出空间。</translation>
    </message>
    <message>
        <source>Give 0 (off) or more.</source>
        <translation>请填写 0（关闭）或更大的数。</translation>
    </message>
    <message>
        <source>Give 0 to 10.</source>
        <translation>请填写 0 到 10。</translation>
    </message>
    <message>
        <source>Give 0 to 64.</source>
        <translation>请填写 0 到 64。</translation>
    </message>
    <message>
        <source>Give 0.1 to 10; 1 is off.</source>
        <translation>请填写 0.1 到 10；1 表示关闭。</translation>
    </message>
    <message>
        <source>Give 1 or more.</source>
        <translation>请填写 1 或更大的数。</translation>
    </message>
    <message>
        <source>Give 1 to 16.</source>
        <translation>请填写 1 到 16。</translation>
    </message>
    <message>
        <source>Give 1 to 256, or leave it out.</source>
        <translation>请填写 1 到 256，或留空。</translation>
    </message>
    <message>
        <source>Give 16 to 1048576, or leave it out.</source>
        <translation>请填写 16 到 1048576，或留空。</translation>
    </message>
    <message>
        <source>Give a branch, a tag or a commit.</source>
        <translation>请填写分支、标签或提交。</translation>
    </message>
    <message>
        <source>Give a name or a place.</source>
        <translation>请给出名称或位置。</translation>
    </message>
    <message>
        <source>Give a number in (0, 1].</source>
        <translation>请填写大于 0 且不超过 1 的数。</translation>
    </message>
    <message>
        <source>Give a number in [0, 1).</source>
        <translation>请填写不小于 0 且小于 1 的数。</translation>
    </message>
    <message>
        <source>Give a number of GB above 0, or leave it out.</source>
        <translation>请填写大于 0 的 GB 数，或留空。</translation>
    </message>
    <message>
        <source>Give a number of GB, or 0 to keep none.</source>
        <translation>请填写 GB 数，0 表示不保留。</translation>
    </message>
    <message>
        <source>Give a text of some hundred words.</source>
        <translation>请提供几百个词的文本。</translation>
    </message>
    <message>
        <source>Give a whole number from 0 to 2^63 - 1, or leave it out.</source>
        <translation>请填写 0 到 2^63 - 1 之间的整数，或留空。</translation>
    </message>
    <message>
        <source>Give an address such as {0}.</source>
        <translation>请填写类似 {0} 的地址。</translation>
    </message>
    <message>
        <source>Give each of 0 to {0} once, or leave the layer out.</source>
        <translation>0 到 {0} 每个各写一次，或省略此层。</translation>
    </message>
    <message>
        <source>Give files of at least 4 KiB.</source>
        <translation>请提供至少 4 KiB 的文件。</translation>
    </message>
    <message>
        <source>Give one that begins with https:// or http://.</source>
        <translation>请填写以 https:// 或 http:// 开头的地址。</translation>
    </message>
    <message>
        <source>Give owner/name, such as {0}.</source>
        <translation>请填写“所有者/名称”，例如 {0}。</translation>
    </message>
    <message>
        <source>Give the path of a text file.</source>
        <translation>请给出文本文件的路径。</translation>
    </message>
    <message>
        <source>How experts are read</source>
        <translation>专家的读取方式</translation>
    </message>
    <message>
        <source>If replies stall for 1 to 3 seconds now and then, exclude the expert files (models\*\*.moex) from scanning: the setup wizard offers it and can undo it.</source>
        <translation>如果回复不时停顿 1 到 3 秒，可将专家文件（models\*\*.moex）排除在扫描之外：设置向导可以添加，也可以撤销。</translation>
    </message>
    <message>
        <source>Install Edge0 again: the package carries a library for this system.</source>
        <translation>请重新安装 Edge0：安装包内含适合本系统的库。</translation>
    </message>
    <message>
        <source>Installed: {0}.</source>
        <translation>已安装：{0}。</translation>
    </message>
    <message>
        <source>It is written anew after the next replies.</source>
        <translation>之后的回复完成后会重新写入。</translation>
    </message>
    <message>
        <source>It reads about a tenth as fast as NVMe: keep models that do not fit into memory on an NVMe SSD.</source>
        <translation>读取速度约为 NVMe 的十分之一：内存放不下的模型请放在 NVMe 固态硬盘上。</translation>
    </message>
    <message>
        <source>Its files may be damaged: choose Check the files in the list of models, or run edge0 doctor NAME --deep.</source>
        <translation>模型文件可能已损坏：请在模型列表中选择“检查文件”，或运行 edge0 doctor NAME --deep。</translation>
    </message>
    <message>
        <source>JSON is spread too wide</source>
        <translation>JSON 的缩进过宽</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>Laying the experts out anew was interrupted</source>
        <translation>重新排列专家时被中断</translation>
    </message>
    <message>
        <source>Leave --shard-by-shard out.</source>
        <translation>请不要使用 --shard-by-shard。</translation>
    </message>
    <message>
        <source>Leave the choice at auto.</source>
        <translation>请保持自动选择。</translation>
    </message>
    <message>
        <source>Less than 8 GB of memory</source>
        <translation>内存不足 8 GB</translation>
    </message>
    <message>
        <source>Let Windows manage the page file (System, Advanced, Performance, Virtual memory): without one, programs end with &apos;out of memory&apos; while memory is still free.</source>
        <translation>请让 Windows 管理页面文件（系统、高级、性能、虚拟内存）：没有它，程序会在仍有空闲内存时报“内存不足”。</translation>
    </message>
    <message>
        <source>Let air reach it or add a heat sink; a larger memory budget reads less.</source>
        <translation>请改善通风或加装散热片；更大的内存预算会减少读取。</translation>
    </message>
    <message>
        <source>Little disk space</source>
        <translation>磁盘空间不足</translation>
    </message>
    <message>
        <source>Little memory is free</source>
        <translation>可用内存很少</translation>
    </message>
    <message>
        <source>Log in: {0}; then accept the licence at {1}.</source>
        <translation>请登录：{0}；然后在 {1} 接受许可协议。</translation>
    </message>
    <message>
        <source>Make a new one at {0}.</source>
        <translation>请在 {0} 创建新令牌。</translation>
    </message>
    <message>
        <source>Mapped</source>
        <translation>映射</translation>
    </message>
    <message>
        <source>Measure it: edge0 doctor MODEL --probe.</source>
        <translation>可以测一下：edge0 doctor MODEL --probe。</translation>
    </message>
    <message>
        <source>Measuring the processor…</source>
        <translation>正在测量处理器…</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Memory plan</source>
        <translation>内存规划</translation>
    </message>
    <message>
        <source>Models are kept in memory</source>
        <translation>模型存放在内存中</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Models in a synced folder</source>
        <translation>模型在同步文件夹中</translation>
    </message>
    <message>
        <source>Models of type {0} are not supported.</source>
        <translation>不支持 {0} 类型的模型。</translation>
    </message>
    <message>
        <source>Move the models out of it: they would be uploaded, and reading could mean downloading.</source>
        <translation>请把模型移出：它们会被上传，读取时可能还要下载。</translation>
    </message>
    <message>
        <source>Move them away, or choose another target.</source>
        <translation>请移走它们，或选择其他目标。</translation>
    </message>
    <message>
        <source>Name one: {0}.</source>
        <translation>请指定其中一个：{0}。</translation>
    </message>
    <message>
        <source>No model is installed yet: run edge0 starter, or edge0 prepare to convert one.</source>
        <translation>尚未安装模型：运行 edge0 starter，或用 edge0 prepare 转换一个。</translation>
    </message>
    <message>
        <source>No model is installed.</source>
        <translation>没有安装模型。</translation>
    </message>
    <message>
        <source>No token came on stdin.</source>
        <translation>标准输入中没有令牌。</translation>
    </message>
    <message>
        <source>None of the installed models can be opened.</source>
        <translation>已安装的模型都无法打开。</translation>
    </message>
    <message>
        <source>Not checked since made</source>
        <translation>生成后尚未检查</translation>
    </message>
    <message>
        <source>Not even one token&apos;s experts fit</source>
        <translation>连一个词元的专家都放不下</translation>
    </message>
    <message>
        <source>Nothing is known yet about which experts this model uses most.</source>
        <translation>还不知道此模型最常用哪些专家。</translation>
    </message>
    <message>
        <source>One thread computes slowly. Check limits set on this program or container.</source>
        <translation>单线程计算很慢。请检查对此程序或容器设置的限制。</translation>
    </message>
    <message>
        <source>One token uses {0} MB of experts; the drive alone gives {1} tokens a second, each expert found in memory makes it faster.</source>
        <translation>一个词元用到 {0} MB 的专家；仅靠硬盘每秒可得 {1} 个词元，每个在内存中找到的专家都会使其更快。</translation>
    </message>
    <message>
        <source>One token uses {0} experts and only {1} fit: nearly all are read from the SSD every time. From {2} GB on it gets faster.</source>
        <translation>一个词元用到 {0} 个专家，只能放下 {1} 个：几乎每次都要从固态硬盘读取。从 {2} GB 起会变快。</translation>
    </message>
    <message>
        <source>Only a folder on a drive of this computer can be excluded, not a network one.</source>
        <translation>只能排除这台电脑磁盘上的文件夹，不能是网络文件夹。</translation>
    </message>
    <message>
        <source>Only one compute thread</source>
        <translation>只有一个计算线程</translation>
    </message>
    <message>
        <source>Only the working set occupies memory, and only it is held to the budget. Virtual size counts the whole mapped model, most of which stays on the drive.</source>
        <translation>只有工作集占用内存，也只有它受预算限制。虚拟大小包含整个映射的模型，其中大部分留在硬盘上。</translation>
    </message>
    <message>
        <source>Only {0} GB are free now: with a budget of {1} GB the system may start to swap.</source>
        <translation>现在只有 {0} GB 可用：预算为 {1} GB 时系统可能开始换页。</translation>
    </message>
    <message>
        <source>Open the model again.</source>
        <translation>请重新打开模型。</translation>
    </message>
    <message>
        <source>Open {0}, accept the licence there, then try again.</source>
        <translation>请打开 {0}，在那里接受许可协议，然后重试。</translation>
    </message>
    <message>
        <source>Page file</source>
        <translation>页面文件</translation>
    </message>
    <message>
        <source>Page files: {0}.</source>
        <translation>页面文件：{0}。</translation>
    </message>
    <message>
        <source>Path: {0}.</source>
        <translation>路径：{0}。</translation>
    </message>
    <message>
        <source>Permission denied: {0}.</source>
        <translation>没有权限：{0}。</translation>
    </message>
    <message>
        <source>Please try again.</source>
        <translation>请重试。</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>Put the file itself into the model folder.</source>
        <translation>请把文件本身放进模型文件夹。</translation>
    </message>
    <message>
        <source>Random reads of {0} MB: {1}.{2}</source>
        <translation>随机读取 {0} MB：{1}。{2}</translation>
    </message>
    <message>
        <source>Reading it in random places, past every cache…</source>
        <translation>正在绕过所有缓存随机读取…</translation>
    </message>
    <message>
        <source>Reading the model&apos;s experts failed: {0}.</source>
        <translation>读取模型的专家失败：{0}。</translation>
    </message>
    <message>
        <source>Reading {0} of {1} failed: {2}.</source>
        <translation>读取 {1} 的 {0} 失败：{2}。</translation>
    </message>
    <message>
        <source>Rename it.</source>
        <translation>请重命名。</translation>
    </message>
    <message>
        <source>Rename the parts to {0} and so on.</source>
        <translation>请把各部分重命名为 {0}，依此类推。</translation>
    </message>
    <message>
        <source>Run `git lfs pull`, or download the file.</source>
        <translation>请运行 `git lfs pull`，或下载该文件。</translation>
    </message>
    <message>
        <source>Run edge0 doctor.</source>
        <translation>请运行 edge0 doctor。</translation>
    </message>
    <message>
        <source>Run edge0-prepare compact &quot;{0}&quot;: it goes on, or tidies up.</source>
        <translation>请运行 edge0-prepare compact &quot;{0}&quot;：它会继续，或进行清理。</translation>
    </message>
    <message>
        <source>Run python3 installers/bootstrap.py run once, or use edge0 chat in the terminal.</source>
        <translation>请运行一次 python3 installers/bootstrap.py run，或在终端中使用 edge0 chat。</translation>
    </message>
    <message>
        <source>Run the same command again to go on.</source>
        <translation>再次执行即可继续。</translation>
    </message>
    <message>
        <source>Run the same conversion again to go on.</source>
        <translation>再次执行同一转换即可继续。</translation>
    </message>
    <message>
        <source>Save it as UTF-8.</source>
        <translation>请保存为 UTF-8。</translation>
    </message>
    <message>
        <source>See why: edge0 models</source>
        <translation>查看原因：edge0 models</translation>
    </message>
    <message>
        <source>Send it somewhere else, or free some space there.</source>
        <translation>请输出到别处，或在那里腾出空间。</translation>
    </message>
    <message>
        <source>Set the memory budget to {0} GB.</source>
        <translation>把内存预算设为 {0} GB。</translation>
    </message>
    <message>
        <source>Several models are installed.</source>
        <translation>安装了多个模型。</translation>
    </message>
    <message>
        <source>Shorten the context from {0} to {1} tokens.</source>
        <translation>把上下文从 {0} 缩短到 {1} 个词元。</translation>
    </message>
    <message>
        <source>Shorten the conversation, or open the model with a longer context.</source>
        <translation>请缩短对话，或用更长的上下文打开模型。</translation>
    </message>
    <message>
        <source>Shorten the message, remove earlier ones or start a new chat, or raise the context length (up to {0}).</source>
        <translation>请缩短消息、删除较早的消息或新建聊天，也可以增大上下文长度（最多 {0}）。</translation>
    </message>
    <message>
        <source>Shorten the message, remove earlier ones or start a new chat.</source>
        <translation>请缩短消息、删除较早的消息或新建聊天。</translation>
    </message>
    <message>
        <source>Sizes and headers fit; the bytes have not been read back and compared yet.</source>
        <translation>大小和文件头相符；字节内容尚未读回比对。</translation>
    </message>
    <message>
        <source>Sizes or times of files differ from those that were compared.</source>
        <translation>文件的大小或时间与比对时不同。</translation>
    </message>
    <message>
        <source>Some files in {0} are in use.</source>
        <translation>{0} 中有文件正在使用。</translation>
    </message>
    <message>
        <source>Speed when nothing is in memory</source>
        <translation>内存中什么都没有时的速度</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>已停止。</translation>
    </message>
    <message>
        <source>Storing the starter model in {0} failed: {1}.</source>
        <translation>把入门模型存到 {0} 失败：{1}。</translation>
    </message>
    <message>
        <source>Storing {0} in {1} failed: {2}.</source>
        <translation>把 {0} 存到 {1} 失败：{2}。</translation>
    </message>
    <message>
        <source>Tamper protection is on. It allows exclusions, except on computers that an organisation manages.</source>
        <translation>篡改防护已开启。它允许排除，由组织管理的电脑除外。</translation>
    </message>
    <message>
        <source>Temporary folders are never excluded.</source>
        <translation>绝不排除临时文件夹。</translation>
    </message>
    <message>
        <source>Tensor {0} of shape {1} {2}.</source>
        <translation>张量 {0}（形状 {1}）{2}。</translation>
    </message>
    <message>
        <source>Text may be cut into tokens otherwise than the model was trained with; a newer conversion of the model avoids this.</source>
        <translation>文字切分成词元的方式可能与模型训练时不同；使用该模型较新的转换版本可避免此问题。</translation>
    </message>
    <message>
        <source>The GGUF file has no tokenizer; this model cannot chat.</source>
        <translation>GGUF 文件中没有分词器；无法与此模型聊天。</translation>
    </message>
    <message>
        <source>The GGUF file names no pre-tokenizer; {0} is used.</source>
        <translation>GGUF 文件没有指定预分词器；改用 {0}。</translation>
    </message>
    <message>
        <source>The GGUF file names the unknown pre-tokenizer {0}; {1} is used.</source>
        <translation>GGUF 文件指定的预分词器 {0} 未知；改用 {1}。</translation>
    </message>
    <message>
        <source>The GGUF file&apos;s token list has repeated or empty entries.</source>
        <translation>GGUF 文件的词元表中有重复或空的条目。</translation>
    </message>
    <message>
        <source>The GGUF file&apos;s {0} is not a list that fits.</source>
        <translation>GGUF 文件中的 {0} 不是合适的列表。</translation>
    </message>
    <message>
        <source>The SSD will be busy all the time. Raise the budget or choose a smaller model.</source>
        <translation>固态硬盘会一直忙碌。请提高预算或选择更小的模型。</translation>
    </message>
    <message>
        <source>The app cannot be opened: {0}.</source>
        <translation>无法打开应用：{0}。</translation>
    </message>
    <message>
        <source>The budget was cut to the {0} GB this machine has.</source>
        <translation>预算已降到这台电脑拥有的 {0} GB。</translation>
    </message>
    <message>
        <source>The calibration text is empty.</source>
        <translation>校准文本为空。</translation>
    </message>
    <message>
        <source>The chats in {0} cannot be opened: {1}.</source>
        <translation>无法打开 {0} 中的聊天记录：{1}。</translation>
    </message>
    <message>
        <source>The chats in {0} were written by a newer version of Edge0.</source>
        <translation>{0} 中的聊天记录由更新版本的 Edge0 写入。</translation>
    </message>
    <message>
        <source>The checkpoint is already quantised ({0}).</source>
        <translation>此模型已经量化过（{0}）。</translation>
    </message>
    <message>
        <source>The connection ended after {0} of {1} bytes.</source>
        <translation>连接在收到 {1} 字节中的 {0} 字节后中断。</translation>
    </message>
    <message>
        <source>The conversation has {0} tokens; the context holds {1} and the reply.</source>
        <translation>对话有 {0} 个词元；除回复外，上下文只能容纳 {1} 个。</translation>
    </message>
    <message>
        <source>The counts do not fit the model.</source>
        <translation>统计数据与此模型不符。</translation>
    </message>
    <message>
        <source>The disk is full: {0} could not be written.</source>
        <translation>磁盘已满：无法写入 {0}。</translation>
    </message>
    <message>
        <source>The disk of {0} is too full: {1} are needed for the download and the conversion, {2} are free.</source>
        <translation>{0} 所在磁盘空间不足：下载和转换需要 {1}，可用 {2}。</translation>
    </message>
    <message>
        <source>The disk of {0} is too full: {1} are needed, {2} are free.</source>
        <translation>{0} 所在磁盘空间不足：需要 {1}，可用 {2}。</translation>
    </message>
    <message>
        <source>The download of {0} gave up: {1}.</source>
        <translation>{0} 的下载已放弃：{1}。</translation>
    </message>
    <message>
        <source>The download of {0} has the wrong content; it was thrown away.</source>
        <translation>下载的 {0} 内容不对，已丢弃。</translation>
    </message>
    <message>
        <source>The download&apos;s policy cannot work.</source>
        <translation>下载策略无法使用。</translation>
    </message>
    <message>
        <source>The drive could not be measured: {0}.</source>
        <translation>无法测量硬盘：{0}。</translation>
    </message>
    <message>
        <source>The drive gave back other bytes than were written to {0}.</source>
        <translation>从 {0} 读回的内容与写入的不一致。</translation>
    </message>
    <message>
        <source>The drive is as slow as SATA</source>
        <translation>硬盘与 SATA 一样慢</translation>
    </message>
    <message>
        <source>The drive is fast enough</source>
        <translation>硬盘足够快</translation>
    </message>
    <message>
        <source>The drive is hot</source>
        <translation>硬盘过热</translation>
    </message>
    <message>
        <source>The drive is very slow</source>
        <translation>硬盘非常慢</translation>
    </message>
    <message>
        <source>The drive may be failing: choose another one.</source>
        <translation>硬盘可能有故障：请换一个硬盘。</translation>
    </message>
    <message>
        <source>The drive reports {0} °C.</source>
        <translation>硬盘报告 {0} °C。</translation>
    </message>
    <message>
        <source>The expert block is {0} bytes.</source>
        <translation>专家块的大小是 {0} 字节。</translation>
    </message>
    <message>
        <source>The expert order of layer {0} lacks or repeats experts.</source>
        <translation>第 {0} 层的专家顺序中有缺失或重复。</translation>
    </message>
    <message>
        <source>The experts are not laid out by use.</source>
        <translation>专家尚未按使用频率排列。</translation>
    </message>
    <message>
        <source>The file does not match its own description; fetch the model again.</source>
        <translation>文件与其自身的描述不符；请重新获取模型。</translation>
    </message>
    <message>
        <source>The file is cut short: convert or download the model again.</source>
        <translation>文件不完整：请重新转换或下载模型。</translation>
    </message>
    <message>
        <source>The file is damaged or incomplete; fetch it again.</source>
        <translation>文件已损坏或不完整；请重新获取。</translation>
    </message>
    <message>
        <source>The file is damaged or incomplete; fetch the model again.</source>
        <translation>文件已损坏或不完整；请重新获取模型。</translation>
    </message>
    <message>
        <source>The file is damaged: download it again.</source>
        <translation>文件已损坏：请重新下载。</translation>
    </message>
    <message>
        <source>The file {0} has an unsafe name.</source>
        <translation>文件 {0} 的名称不安全。</translation>
    </message>
    <message>
        <source>The files are damaged</source>
        <translation>文件已损坏</translation>
    </message>
    <message>
        <source>The files in {0} were replaced.</source>
        <translation>{0} 中的文件已被替换。</translation>
    </message>
    <message>
        <source>The files were checked</source>
        <translation>文件已检查过</translation>
    </message>
    <message>
        <source>The first reply after a start still reads cold files: edge0 warm reads them ahead.</source>
        <translation>启动后的第一次回复仍要读取冷文件：edge0 warm 可以提前读取。</translation>
    </message>
    <message>
        <source>The folder&apos;s path holds characters that a pattern may misread.</source>
        <translation>文件夹路径含有可能被误认为通配符的字符。</translation>
    </message>
    <message>
        <source>The folder&apos;s path is too long or holds characters that cannot be seen.</source>
        <translation>文件夹路径太长，或含有不可见字符。</translation>
    </message>
    <message>
        <source>The folder&apos;s path looks as if it held a variable.</source>
        <translation>文件夹路径看起来含有变量。</translation>
    </message>
    <message>
        <source>The folder&apos;s path must not go up.</source>
        <translation>文件夹路径不能指向上级目录。</translation>
    </message>
    <message>
        <source>The header of {0}</source>
        <translation>{0} 的文件头</translation>
    </message>
    <message>
        <source>The hub&apos;s address</source>
        <translation>模型库地址</translation>
    </message>
    <message>
        <source>The hub&apos;s address {0} holds more than a host and a path.</source>
        <translation>模型库地址 {0} 中除主机和路径外还有其他内容。</translation>
    </message>
    <message>
        <source>The input cannot be read: {0}.</source>
        <translation>无法读取输入：{0}。</translation>
    </message>
    <message>
        <source>The last check of its files found wrong bytes.</source>
        <translation>上次检查文件时发现了错误的字节。</translation>
    </message>
    <message>
        <source>The model computed numbers that are not finite.</source>
        <translation>模型算出了无穷大或不是数字的值。</translation>
    </message>
    <message>
        <source>The model does not fit the memory budget</source>
        <translation>内存预算放不下此模型</translation>
    </message>
    <message>
        <source>The model finds all words equally likely.</source>
        <translation>模型认为所有词的可能性相同。</translation>
    </message>
    <message>
        <source>The model folder is damaged: convert or download the model again.</source>
        <translation>模型文件夹已损坏：请重新转换或下载模型。</translation>
    </message>
    <message>
        <source>The model folder was made by a newer Edge0 (format {0}, this one reads {1}).</source>
        <translation>模型文件夹由更新版本的 Edge0 制作（格式 {0}，本版本只能读取 {1}）。</translation>
    </message>
    <message>
        <source>The model has no chat template.</source>
        <translation>此模型没有聊天模板。</translation>
    </message>
    <message>
        <source>The model is damaged</source>
        <translation>模型已损坏</translation>
    </message>
    <message>
        <source>The model is in {0} now, but {1} could not be removed.</source>
        <translation>模型现已位于 {0}，但无法删除 {1}。</translation>
    </message>
    <message>
        <source>The model is whole; {0} of unfinished files lie beside it.</source>
        <translation>模型是完整的；旁边有 {0} 未完成的文件。</translation>
    </message>
    <message>
        <source>The model is writing a reply already.</source>
        <translation>模型正在写另一条回复。</translation>
    </message>
    <message>
        <source>The model may have changed: start again.</source>
        <translation>模型可能已更改：请重新开始。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template cannot be used: {0}.</source>
        <translation>无法使用模型的聊天模板：{0}。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template failed: {0}.</source>
        <translation>模型的聊天模板运行失败：{0}。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template is broken in line {0}: {1}.</source>
        <translation>模型的聊天模板在第 {0} 行有错误：{1}。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template is {0} characters long; {1} are allowed.</source>
        <translation>模型的聊天模板有 {0} 个字符；最多允许 {1} 个。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template refuses these messages: {0}.</source>
        <translation>模型的聊天模板不接受这些消息：{0}。</translation>
    </message>
    <message>
        <source>The model&apos;s experts cannot be opened: {0}.</source>
        <translation>无法打开模型的专家：{0}。</translation>
    </message>
    <message>
        <source>The model&apos;s output is not a number for {0} of {1} tokens.</source>
        <translation>模型的输出中，{1} 个词元里有 {0} 个不是数字。</translation>
    </message>
    <message>
        <source>The models folder cannot be written</source>
        <translation>模型文件夹无法写入</translation>
    </message>
    <message>
        <source>The native kernels cannot run</source>
        <translation>本机计算库无法运行</translation>
    </message>
    <message>
        <source>The native kernels run</source>
        <translation>本机计算库可以运行</translation>
    </message>
    <message>
        <source>The native kernels run on their slowest path</source>
        <translation>本机计算库只能以最慢的方式运行</translation>
    </message>
    <message>
        <source>The native library {0} cannot be used: {1}.</source>
        <translation>无法使用本机库 {0}：{1}。</translation>
    </message>
    <message>
        <source>The native library {0} is missing.</source>
        <translation>缺少本机库 {0}。</translation>
    </message>
    <message>
        <source>The number format {0} is not known.</source>
        <translation>未知的数值格式 {0}。</translation>
    </message>
    <message>
        <source>The output cannot be written: {0}.</source>
        <translation>无法写入输出：{0}。</translation>
    </message>
    <message>
        <source>The package index gave an answer we cannot read.</source>
        <translation>软件源给出了无法读懂的回答。</translation>
    </message>
    <message>
        <source>The package index has no {0}.</source>
        <translation>软件源中没有 {0}。</translation>
    </message>
    <message>
        <source>The page file is switched off</source>
        <translation>页面文件已关闭</translation>
    </message>
    <message>
        <source>The proxy</source>
        <translation>代理</translation>
    </message>
    <message>
        <source>The server sends {0} only as a whole</source>
        <translation>服务器只能整个发送 {0}</translation>
    </message>
    <message>
        <source>The service WinDefend is running.</source>
        <translation>WinDefend 服务正在运行。</translation>
    </message>
    <message>
        <source>The source cannot be kept and be deleted shard by shard.</source>
        <translation>源文件不能既保留又逐片删除。</translation>
    </message>
    <message>
        <source>The starter model needs {0} MB free in {1}; there are {2} MB.</source>
        <translation>入门模型需要 {1} 中有 {0} MB 空闲；现有 {2} MB。</translation>
    </message>
    <message>
        <source>The starter model&apos;s file has the wrong content.</source>
        <translation>入门模型的文件内容不对。</translation>
    </message>
    <message>
        <source>The system gave no more memory.</source>
        <translation>系统无法再分配内存。</translation>
    </message>
    <message>
        <source>The text is empty.</source>
        <translation>内容为空。</translation>
    </message>
    <message>
        <source>The token holds characters that no token has.</source>
        <translation>令牌中含有令牌不会有的字符。</translation>
    </message>
    <message>
        <source>The token is not valid (any more).</source>
        <translation>令牌无效（或已失效）。</translation>
    </message>
    <message>
        <source>The token {0} is outside the model&apos;s vocabulary of {1}.</source>
        <translation>词元 {0} 超出模型的词表（{1}）。</translation>
    </message>
    <message>
        <source>The tokenizer belongs to another model: convert the model again.</source>
        <translation>分词器属于另一个模型：请重新转换模型。</translation>
    </message>
    <message>
        <source>The tokenizer cannot be used: {0}.</source>
        <translation>无法使用分词器：{0}。</translation>
    </message>
    <message>
        <source>The tokenizer does not belong to this model.</source>
        <translation>分词器不属于此模型。</translation>
    </message>
    <message>
        <source>The tokenizer turns tokens into text by {0}, which is not known.</source>
        <translation>分词器用 {0} 把词元变成文字，而此方式不受支持。</translation>
    </message>
    <message>
        <source>The weight {0} holds values beyond ±{1}, too large for {2}.</source>
        <translation>权重 {0} 中有超出 ±{1} 的值，对 {2} 来说太大。</translation>
    </message>
    <message>
        <source>The weight {0} holds values that are not numbers (NaN or infinity).</source>
        <translation>权重 {0} 中有不是数字的值（NaN 或无穷大）。</translation>
    </message>
    <message>
        <source>The weights are stored as {0}; only {1} can be read.</source>
        <translation>权重以 {0} 存储；只能读取 {1}。</translation>
    </message>
    <message>
        <source>The whole model fits into memory</source>
        <translation>整个模型都能放进内存</translation>
    </message>
    <message>
        <source>The {0} token {1} is not in the vocabulary.</source>
        <translation>词表中没有 {0} 词元 {1}。</translation>
    </message>
    <message>
        <source>There is no message to reply to.</source>
        <translation>没有可以回复的消息。</translation>
    </message>
    <message>
        <source>There is no model named {0}.</source>
        <translation>没有名为 {0} 的模型。</translation>
    </message>
    <message>
        <source>There is no model {0} for this login.</source>
        <translation>此登录看不到模型 {0}。</translation>
    </message>
    <message>
        <source>There is no model {0}.</source>
        <translation>没有模型 {0}。</translation>
    </message>
    <message>
        <source>There is no public model {0}.</source>
        <translation>没有公开的模型 {0}。</translation>
    </message>
    <message>
        <source>There is no text file {0}.</source>
        <translation>没有文本文件 {0}。</translation>
    </message>
    <message>
        <source>There is no tokenizer.json, only a SentencePiece model ({0}). Fetch a version with tokenizer.json to chat with this model.</source>
        <translation>没有 tokenizer.json，只有 SentencePiece 模型（{0}）。要与此模型聊天，请获取带 tokenizer.json 的版本。</translation>
    </message>
    <message>
        <source>There is no tokenizer.json. Fetch the complete model to chat with it.</source>
        <translation>没有 tokenizer.json。要与此模型聊天，请获取完整的模型。</translation>
    </message>
    <message>
        <source>There is nothing to measure.</source>
        <translation>没有可以测量的内容。</translation>
    </message>
    <message>
        <source>There is too little room in {0} to measure the drive.</source>
        <translation>{0} 中的空间不够测量硬盘。</translation>
    </message>
    <message>
        <source>This folder is kept in memory, which the model needs itself. Use a real drive.</source>
        <translation>此文件夹位于内存中，而模型本身需要内存。请使用真正的硬盘。</translation>
    </message>
    <message>
        <source>This login may not download {0} yet.</source>
        <translation>此登录还不能下载 {0}。</translation>
    </message>
    <message>
        <source>This model needs at least {0} GB, {1} {2} GB.</source>
        <translation>此模型至少需要 {0} GB，{1} {2} GB。</translation>
    </message>
    <message>
        <source>This process: working set {0}, committed {1}, virtual {2}.</source>
        <translation>此进程：工作集 {0}，已提交 {1}，虚拟 {2}。</translation>
    </message>
    <message>
        <source>This processor cannot run the {0} kernels.</source>
        <translation>此处理器无法运行 {0} 内核。</translation>
    </message>
    <message>
        <source>This processor has none of AVX2, AVX-512 or NEON dot products.</source>
        <translation>此处理器没有 AVX2、AVX-512 或 NEON 点积指令。</translation>
    </message>
    <message>
        <source>This {0} model cannot be run: {1}.</source>
        <translation>无法运行这个 {0} 模型：{1}。</translation>
    </message>
    <message>
        <source>To find damaged bytes, choose Check the files in the list of models, or run edge0 doctor &quot;{0}&quot; --deep.</source>
        <translation>要找出损坏的字节，请在模型列表中选择“检查文件”，或运行 edge0 doctor &quot;{0}&quot; --deep。</translation>
    </message>
    <message>
        <source>To try again: edge0-prepare compact &quot;{0}&quot;.</source>
        <translation>重试请运行：edge0-prepare compact &quot;{0}&quot;。</translation>
    </message>
    <message>
        <source>Tokenizers of type {0} are not known; this model cannot chat.</source>
        <translation>不认识 {0} 类型的分词器；无法与此模型聊天。</translation>
    </message>
    <message>
        <source>Try again in {0} s.</source>
        <translation>请在 {0} 秒后重试。</translation>
    </message>
    <message>
        <source>Try again later, or use another hub address.</source>
        <translation>请稍后重试，或使用其他模型库地址。</translation>
    </message>
    <message>
        <source>Try again later, or use another hub address; check whether the network asks for a login first.</source>
        <translation>请稍后重试，或使用其他模型库地址；并检查网络是否要求先登录。</translation>
    </message>
    <message>
        <source>Try again later; what was fetched is kept.</source>
        <translation>请稍后重试；已下载的部分会保留。</translation>
    </message>
    <message>
        <source>Try again; if it stays so, the index or mirror in pip&apos;s settings has another file.</source>
        <translation>请重试；如果仍然如此，说明 pip 设置中的软件源或镜像提供的是另一个文件。</translation>
    </message>
    <message>
        <source>Type it, or give it in a file that can be read.</source>
        <translation>请直接键入，或用可以读取的文件提供。</translation>
    </message>
    <message>
        <source>Type more of the name.</source>
        <translation>请多输入几个字。</translation>
    </message>
    <message>
        <source>Update Edge0, or convert the model again with this version.</source>
        <translation>请更新 Edge0，或用本版本重新转换模型。</translation>
    </message>
    <message>
        <source>Update Edge0. To begin anew with this version, move the file away.</source>
        <translation>请更新 Edge0。若要用此版本重新开始，请移走该文件。</translation>
    </message>
    <message>
        <source>Use an unmodified model folder.</source>
        <translation>请使用未经改动的模型文件夹。</translation>
    </message>
    <message>
        <source>Use another version of the model, or report it to the model&apos;s author.</source>
        <translation>请使用此模型的其他版本，或告知模型作者。</translation>
    </message>
    <message>
        <source>Use letters, digits and dashes.</source>
        <translation>请使用字母、数字和连字符。</translation>
    </message>
    <message>
        <source>Use numbers above 0.</source>
        <translation>请使用大于 0 的数字。</translation>
    </message>
    <message>
        <source>Use system, user, assistant or tool.</source>
        <translation>请使用 system、user、assistant 或 tool。</translation>
    </message>
    <message>
        <source>Use the model for a while, or add --calibrate.</source>
        <translation>请先使用此模型一段时间，或加上 --calibrate。</translation>
    </message>
    <message>
        <source>Usually too slow for streaming experts, and it may be unplugged. Move the models to the built-in SSD.</source>
        <translation>对流式读取专家通常太慢，还可能被拔出。请把模型移到内置固态硬盘。</translation>
    </message>
    <message>
        <source>Wait for it, or stop it first.</source>
        <translation>请等待它结束，或先停止它。</translation>
    </message>
    <message>
        <source>Wait for it, or stop it.</source>
        <translation>请等待它完成，或停止它。</translation>
    </message>
    <message>
        <source>Weights stored as {0} cannot be read.</source>
        <translation>无法读取以 {0} 存储的权重。</translation>
    </message>
    <message>
        <source>Which memory number to watch</source>
        <translation>应该看哪个内存数字</translation>
    </message>
    <message>
        <source>Windows Defender scans files</source>
        <translation>Windows Defender 会扫描文件</translation>
    </message>
    <message>
        <source>Write a message first.</source>
        <translation>请先写一条消息。</translation>
    </message>
    <message>
        <source>Write it there, ended by a new line.</source>
        <translation>请写入令牌并以换行结束。</translation>
    </message>
    <message>
        <source>Writing a test file…</source>
        <translation>正在写入测试文件…</translation>
    </message>
    <message>
        <source>Your organisation decides about exclusions on this computer; one added here would be ignored. Give its administrators the command below.</source>
        <translation>这台电脑的排除项由组织决定；在这里添加的会被忽略。请把下面的命令交给管理员。</translation>
    </message>
    <message>
        <source>a SATA SSD</source>
        <translation>SATA 固态硬盘</translation>
    </message>
    <message>
        <source>a USB drive or memory card</source>
        <translation>USB 硬盘或存储卡</translation>
    </message>
    <message>
        <source>a cloud drive</source>
        <translation>云盘</translation>
    </message>
    <message>
        <source>a drive that does not say what it is</source>
        <translation>类型未知的硬盘</translation>
    </message>
    <message>
        <source>a finite number</source>
        <translation>有限的数字</translation>
    </message>
    <message>
        <source>a hard disk</source>
        <translation>机械硬盘</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>列表</translation>
    </message>
    <message>
        <source>a list of {0} numbers</source>
        <translation>含 {0} 个数字的列表</translation>
    </message>
    <message>
        <source>a metadata key</source>
        <translation>元数据键</translation>
    </message>
    <message>
        <source>a namespace cannot hold the name {0}</source>
        <translation>命名空间不能使用名称 {0}</translation>
    </message>
    <message>
        <source>a network drive</source>
        <translation>网络硬盘</translation>
    </message>
    <message>
        <source>a number from {0} to {1}</source>
        <translation>介于 {0} 到 {1} 之间的数字</translation>
    </message>
    <message>
        <source>a number is rounded too finely</source>
        <translation>数字的舍入位数过多</translation>
    </message>
    <message>
        <source>a recursive loop may not be used</source>
        <translation>不允许使用递归循环</translation>
    </message>
    <message>
        <source>a set of characters to strip is too large</source>
        <translation>要去除的字符集过大</translation>
    </message>
    <message>
        <source>a tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>a text of reasonable length</source>
        <translation>长度合理的文本</translation>
    </message>
    <message>
        <source>a time format is too long</source>
        <translation>时间格式过长</translation>
    </message>
    <message>
        <source>a virtual drive</source>
        <translation>虚拟硬盘</translation>
    </message>
    <message>
        <source>a whole number from {0} to {1}</source>
        <translation>介于 {0} 到 {1} 之间的整数</translation>
    </message>
    <message>
        <source>a whole number in range</source>
        <translation>范围内的整数</translation>
    </message>
    <message>
        <source>an NVMe SSD</source>
        <translation>NVMe 固态硬盘</translation>
    </message>
    <message>
        <source>an indentation is too wide</source>
        <translation>缩进过宽</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>对象</translation>
    </message>
    <message>
        <source>as much as can be spared</source>
        <translation>能腾出的全部</translation>
    </message>
    <message>
        <source>asking for {0}</source>
        <translation>正在询问 {0}</translation>
    </message>
    <message>
        <source>became shorter while it was read</source>
        <translation>在读取过程中变短了</translation>
    </message>
    <message>
        <source>budget</source>
        <translation>预算</translation>
    </message>
    <message>
        <source>cannot be cut into {0} rotary heads</source>
        <translation>无法切分成 {0} 个旋转注意力头</translation>
    </message>
    <message>
        <source>checked</source>
        <translation>已检查</translation>
    </message>
    <message>
        <source>checking the experts of layer {0}</source>
        <translation>正在检查第 {0} 层的专家</translation>
    </message>
    <message>
        <source>checking {0}</source>
        <translation>正在检查 {0}</translation>
    </message>
    <message>
        <source>claims a name of {0} bytes for {1}</source>
        <translation>声称{1}的名称有 {0} 字节</translation>
    </message>
    <message>
        <source>claims a text of {0} bytes in {1}</source>
        <translation>声称 {1} 中有 {0} 字节的文本</translation>
    </message>
    <message>
        <source>claims {0} items in {1}</source>
        <translation>声称 {1} 中有 {0} 项</translation>
    </message>
    <message>
        <source>claims {0} {1}</source>
        <translation>声称有 {0} 个{1}</translation>
    </message>
    <message>
        <source>clipped attention inputs are not known here</source>
        <translation>不支持截断的注意力输入</translation>
    </message>
    <message>
        <source>copying {0}</source>
        <translation>正在复制 {0}</translation>
    </message>
    <message>
        <source>counting which experts are used</source>
        <translation>正在统计用到哪些专家</translation>
    </message>
    <message>
        <source>counts does not fit the model&apos;s shape</source>
        <translation>counts 与模型结构不符</translation>
    </message>
    <message>
        <source>dense weights</source>
        <translation>稠密权重</translation>
    </message>
    <message>
        <source>dense_bytes is not {0}</source>
        <translation>dense_bytes 不是 {0}</translation>
    </message>
    <message>
        <source>dequantised and requantised</source>
        <translation>反量化后重新量化</translation>
    </message>
    <message>
        <source>does not start like a GGUF file</source>
        <translation>开头不像 GGUF 文件</translation>
    </message>
    <message>
        <source>downloading {0}</source>
        <translation>正在下载 {0}</translation>
    </message>
    <message>
        <source>ends inside {0}, at byte {1}</source>
        <translation>在 {0} 中间结束（第 {1} 字节）</translation>
    </message>
    <message>
        <source>expert matrices</source>
        <translation>专家矩阵</translation>
    </message>
    <message>
        <source>expert matrix</source>
        <translation>专家矩阵</translation>
    </message>
    <message>
        <source>experts in memory</source>
        <translation>内存中的专家</translation>
    </message>
    <message>
        <source>experts of layer {0} of {1}</source>
        <translation>第 {0} 层的专家（共 {1} 层）</translation>
    </message>
    <message>
        <source>feed-forward biases are not known here</source>
        <translation>不支持前馈层偏置</translation>
    </message>
    <message>
        <source>file system unknown</source>
        <translation>文件系统未知</translation>
    </message>
    <message>
        <source>files does not fit the records</source>
        <translation>files 与各条记录不符</translation>
    </message>
    <message>
        <source>files has a wrong length</source>
        <translation>files 的长度不对</translation>
    </message>
    <message>
        <source>finishing</source>
        <translation>正在收尾</translation>
    </message>
    <message>
        <source>free memory can keep about {0} of what the budget misses</source>
        <translation>空闲内存大约能留住预算之外的 {0}</translation>
    </message>
    <message>
        <source>free memory can keep {0} of what the budget misses</source>
        <translation>空闲内存能留住预算之外的 {0}</translation>
    </message>
    <message>
        <source>gives tensor {0} the shape {1} as {2} at {3}</source>
        <translation>张量 {0} 的形状为 {1}，类型为 {2}，位置为 {3}，互相矛盾</translation>
    </message>
    <message>
        <source>gives tensor {0} {1} axes</source>
        <translation>张量 {0} 有 {1} 个轴</translation>
    </message>
    <message>
        <source>has a damaged {0}</source>
        <translation>其中的 {0} 已损坏</translation>
    </message>
    <message>
        <source>has a truth value other than 0 and 1 in {0}</source>
        <translation>{0} 中有 0 和 1 以外的布尔值</translation>
    </message>
    <message>
        <source>has a value of unknown type {0} in {1}</source>
        <translation>{1} 中有未知类型 {0} 的值</translation>
    </message>
    <message>
        <source>has arrays inside the array {0}</source>
        <translation>数组 {0} 中嵌套了数组</translation>
    </message>
    <message>
        <source>has more than {0} files</source>
        <translation>文件超过 {0} 个</translation>
    </message>
    <message>
        <source>has no cut {0}</source>
        <translation>没有 {0} 这一段</translation>
    </message>
    <message>
        <source>has no entry {0}</source>
        <translation>没有第 {0} 项</translation>
    </message>
    <message>
        <source>has only pickled weights, which could run any code</source>
        <translation>只有 pickle 格式的权重，可能执行任意代码</translation>
    </message>
    <message>
        <source>has the alignment {0}, which is not a small power of two</source>
        <translation>对齐值为 {0}，不是较小的 2 的幂</translation>
    </message>
    <message>
        <source>has {0} as the name of {1}</source>
        <translation>以 {0} 作为{1}的名称</translation>
    </message>
    <message>
        <source>has {0} bytes, but tensor {1} ends at {2}</source>
        <translation>文件有 {0} 字节，而张量 {1} 到第 {2} 字节才结束</translation>
    </message>
    <message>
        <source>has {0} that is not UTF-8 text</source>
        <translation>有一个{0}不是 UTF-8 文本</translation>
    </message>
    <message>
        <source>heads are not a multiple of the key/value heads</source>
        <translation>注意力头数不是键值头数的倍数</translation>
    </message>
    <message>
        <source>heads rotated in part are not known here</source>
        <translation>不支持只旋转一部分的注意力头</translation>
    </message>
    <message>
        <source>heads times head size is not a multiple of {0}</source>
        <translation>注意力头数乘以头的大小不是 {0} 的倍数</translation>
    </message>
    <message>
        <source>holds a file named {0}</source>
        <translation>其中有名为 {0} 的文件</translation>
    </message>
    <message>
        <source>holds files whose names differ only in case</source>
        <translation>其中有仅大小写不同的文件名</translation>
    </message>
    <message>
        <source>holds no model weights</source>
        <translation>其中没有模型权重</translation>
    </message>
    <message>
        <source>holds several GGUF models</source>
        <translation>其中有多个 GGUF 模型</translation>
    </message>
    <message>
        <source>holds the whole model</source>
        <translation>可容纳整个模型</translation>
    </message>
    <message>
        <source>id is not a hash</source>
        <translation>id 不是哈希值</translation>
    </message>
    <message>
        <source>is not a matrix</source>
        <translation>不是矩阵</translation>
    </message>
    <message>
        <source>is {0}; columns {1} to {2} split its blocks</source>
        <translation>类型为 {0}；第 {1} 到 {2} 列会切开它的块</translation>
    </message>
    <message>
        <source>it belongs to another model or version.</source>
        <translation>它属于另一个模型或版本。</translation>
    </message>
    <message>
        <source>it computes with a number that is too large</source>
        <translation>它用过大的数字进行计算</translation>
    </message>
    <message>
        <source>it has the wrong number of layers or experts.</source>
        <translation>它的层数或专家数不对。</translation>
    </message>
    <message>
        <source>it makes a value that is too large</source>
        <translation>它生成的值过大</translation>
    </message>
    <message>
        <source>it makes too much text</source>
        <translation>它生成的文字过多</translation>
    </message>
    <message>
        <source>it was still not done after {0} s of processor time</source>
        <translation>用了 {0} 秒处理器时间仍未完成</translation>
    </message>
    <message>
        <source>its numbers cannot be.</source>
        <translation>其中的数字不可能成立。</translation>
    </message>
    <message>
        <source>its signature</source>
        <translation>文件标识</translation>
    </message>
    <message>
        <source>its version</source>
        <translation>版本号</translation>
    </message>
    <message>
        <source>kept exactly</source>
        <translation>原样保留</translation>
    </message>
    <message>
        <source>lacks the file {0} that its index names</source>
        <translation>缺少索引中列出的文件 {0}</translation>
    </message>
    <message>
        <source>layer {0} lacks or repeats experts</source>
        <translation>第 {0} 层的专家有缺失或重复</translation>
    </message>
    <message>
        <source>layer {0}, expert {1}</source>
        <translation>第 {0} 层第 {1} 个专家</translation>
    </message>
    <message>
        <source>layer_layout has a wrong length</source>
        <translation>layer_layout 的长度不对</translation>
    </message>
    <message>
        <source>layer_layout names no layout</source>
        <translation>layer_layout 指向不存在的布局</translation>
    </message>
    <message>
        <source>layers without experts are not known here</source>
        <translation>不支持没有专家的层</translation>
    </message>
    <message>
        <source>layouts has a wrong length</source>
        <translation>layouts 的长度不对</translation>
    </message>
    <message>
        <source>lets tensor {0} overlap the one before it</source>
        <translation>张量 {0} 与前一个重叠</translation>
    </message>
    <message>
        <source>loading the dense weights</source>
        <translation>正在载入稠密权重</translation>
    </message>
    <message>
        <source>lowered: memory got short</source>
        <translation>已降低：内存变得紧张</translation>
    </message>
    <message>
        <source>make a read token at {0} and enter it</source>
        <translation>在 {0} 创建只读令牌并填入</translation>
    </message>
    <message>
        <source>measured here, an expert that is missed takes {0} ms mapped ({1} from free memory) and {2} ms read unbuffered</source>
        <translation>在本机实测，缺少的专家映射读取需 {0} 毫秒（{1} 来自空闲内存），直接读取需 {2} 毫秒</translation>
    </message>
    <message>
        <source>measuring the drive for 3 seconds</source>
        <translation>正在测量硬盘（3 秒）</translation>
    </message>
    <message>
        <source>memory beside the budget can hold only {0} of the other experts</source>
        <translation>预算之外的内存只能容纳其余专家的 {0}</translation>
    </message>
    <message>
        <source>metadata keys</source>
        <translation>元数据键</translation>
    </message>
    <message>
        <source>more experts are used than there are</source>
        <translation>使用的专家数多于总数</translation>
    </message>
    <message>
        <source>more than {0} experts are used for a token</source>
        <translation>每个词元使用的专家超过 {0} 个</translation>
    </message>
    <message>
        <source>moving the experts of layer {0}</source>
        <translation>正在移动第 {0} 层的专家</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>on this machine it can have</source>
        <translation>这台电脑能给它</translation>
    </message>
    <message>
        <source>one of {0}</source>
        <translation>{0} 之一</translation>
    </message>
    <message>
        <source>opening the model</source>
        <translation>正在打开模型</translation>
    </message>
    <message>
        <source>planning</source>
        <translation>正在规划</translation>
    </message>
    <message>
        <source>program and libraries</source>
        <translation>程序和库</translation>
    </message>
    <message>
        <source>quantised</source>
        <translation>已量化</translation>
    </message>
    <message>
        <source>reading the manifest</source>
        <translation>正在读取清单</translation>
    </message>
    <message>
        <source>reading the model&apos;s files</source>
        <translation>正在读取模型文件</translation>
    </message>
    <message>
        <source>reading what is in the model</source>
        <translation>正在查看模型内容</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>record_align is not 4, 16 or 64 KiB</source>
        <translation>record_align 不是 4、16 或 64 KiB</translation>
    </message>
    <message>
        <source>records is not {0} long</source>
        <translation>records 的长度不是 {0}</translation>
    </message>
    <message>
        <source>records of layer {0} are mixed</source>
        <translation>第 {0} 层的记录混乱</translation>
    </message>
    <message>
        <source>repeats the metadata key {0}</source>
        <translation>元数据键 {0} 重复</translation>
    </message>
    <message>
        <source>repeats the tensor {0}</source>
        <translation>张量 {0} 重复</translation>
    </message>
    <message>
        <source>rounded</source>
        <translation>已舍入</translation>
    </message>
    <message>
        <source>shape.head_dim is no multiple of 16</source>
        <translation>shape.head_dim 不是 16 的倍数</translation>
    </message>
    <message>
        <source>shape.heads is no multiple of shape.kv_heads</source>
        <translation>shape.heads 不是 shape.kv_heads 的倍数</translation>
    </message>
    <message>
        <source>shape.rope_frequencies is too long</source>
        <translation>shape.rope_frequencies 过长</translation>
    </message>
    <message>
        <source>shape.sliding_window is out of range</source>
        <translation>shape.sliding_window 超出范围</translation>
    </message>
    <message>
        <source>shape.top_k does not fit a dense model</source>
        <translation>shape.top_k 不适合稠密模型</translation>
    </message>
    <message>
        <source>shape.top_k is above shape.experts</source>
        <translation>shape.top_k 大于 shape.experts</translation>
    </message>
    <message>
        <source>side_files has a name twice</source>
        <translation>side_files 中有重复的名称</translation>
    </message>
    <message>
        <source>sliding-window attention is not known here</source>
        <translation>不支持滑动窗口注意力</translation>
    </message>
    <message>
        <source>small weight</source>
        <translation>小权重</translation>
    </message>
    <message>
        <source>small weights</source>
        <translation>小权重</translation>
    </message>
    <message>
        <source>spare</source>
        <translation>备用</translation>
    </message>
    <message>
        <source>str.format may not use widths or conversions</source>
        <translation>str.format 不能使用宽度或转换</translation>
    </message>
    <message>
        <source>sum may only add numbers</source>
        <translation>sum 只能对数字求和</translation>
    </message>
    <message>
        <source>tensors</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>tensors are too large</source>
        <translation>张量过大</translation>
    </message>
    <message>
        <source>the GGUF header</source>
        <translation>GGUF 文件头</translation>
    </message>
    <message>
        <source>the address at {0} expired ({1})</source>
        <translation>{0} 的地址已过期（{1}）</translation>
    </message>
    <message>
        <source>the budget is</source>
        <translation>预算为</translation>
    </message>
    <message>
        <source>the certificate of {0} is not trusted: {1}</source>
        <translation>{0} 的证书不受信任：{1}</translation>
    </message>
    <message>
        <source>the connection has nearly come to a halt</source>
        <translation>连接几乎停止</translation>
    </message>
    <message>
        <source>the connection to {0} failed: {1}</source>
        <translation>与 {0} 的连接失败：{1}</translation>
    </message>
    <message>
        <source>the expert width is not a multiple of {0}</source>
        <translation>专家宽度不是 {0} 的倍数</translation>
    </message>
    <message>
        <source>the experts used most come first in each layer</source>
        <translation>每层中最常用的专家排在最前</translation>
    </message>
    <message>
        <source>the file changed on the server</source>
        <translation>服务器上的文件已更改</translation>
    </message>
    <message>
        <source>the head size is not a multiple of 16</source>
        <translation>注意力头的大小不是 16 的倍数</translation>
    </message>
    <message>
        <source>the hidden size is not a multiple of {0}</source>
        <translation>隐藏层大小不是 {0} 的倍数</translation>
    </message>
    <message>
        <source>the number of {0}</source>
        <translation>{0}的数量</translation>
    </message>
    <message>
        <source>the operator {0} may not be used like this</source>
        <translation>不允许这样使用运算符 {0}</translation>
    </message>
    <message>
        <source>the server has a shorter file</source>
        <translation>服务器上的文件更短</translation>
    </message>
    <message>
        <source>the server has {0} bytes instead of {1}</source>
        <translation>服务器上有 {0} 字节，而应为 {1} 字节</translation>
    </message>
    <message>
        <source>the server sent another range than the one asked for</source>
        <translation>服务器发来的范围与请求的不同</translation>
    </message>
    <message>
        <source>the shape has too many experts</source>
        <translation>模型结构中的专家过多</translation>
    </message>
    <message>
        <source>the source or the options changed: starting anew</source>
        <translation>来源或选项已更改：重新开始</translation>
    </message>
    <message>
        <source>the whole model fits into the memory budget</source>
        <translation>内存预算放得下整个模型</translation>
    </message>
    <message>
        <source>there are more than {0} experts</source>
        <translation>专家超过 {0} 个</translation>
    </message>
    <message>
        <source>this activation is not known</source>
        <translation>不支持此激活函数</translation>
    </message>
    <message>
        <source>this drive can go away, and then a failed read ends a reply instead of the program</source>
        <translation>此硬盘可能被拔下，届时读取失败只会结束一次回复，而不是整个程序</translation>
    </message>
    <message>
        <source>this router is not known here</source>
        <translation>不支持此路由方式</translation>
    </message>
    <message>
        <source>this way to extend the context is not known</source>
        <translation>不支持这种扩展上下文的方式</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>true 或 false</translation>
    </message>
    <message>
        <source>unknown reason</source>
        <translation>原因不明</translation>
    </message>
    <message>
        <source>unpacking {0}</source>
        <translation>正在解包 {0}</translation>
    </message>
    <message>
        <source>values of another width than keys are not known here</source>
        <translation>不支持值与键宽度不同的模型</translation>
    </message>
    <message>
        <source>weight</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>weights are missing or unknown: {0}</source>
        <translation>权重缺失或未知：{0}</translation>
    </message>
    <message>
        <source>weights that stay in memory</source>
        <translation>常驻内存的权重</translation>
    </message>
    <message>
        <source>with more it would be less than {0} % faster</source>
        <translation>再多也只会快不到 {0} %</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>工作区</translation>
    </message>
    <message>
        <source>written</source>
        <translation>已写入</translation>
    </message>
    <message>
        <source>{0} A common one (ChatML) is used; replies may be worse.</source>
        <translation>{0}将使用通用模板（ChatML）；回复质量可能下降。</translation>
    </message>
    <message>
        <source>{0} MB/s at depth {1}</source>
        <translation>深度 {1} 时 {0} MB/s</translation>
    </message>
    <message>
        <source>{0} Or: {1}</source>
        <translation>{0}或者：{1}</translation>
    </message>
    <message>
        <source>{0} allows no more requests for now (429)</source>
        <translation>{0} 暂时不接受更多请求（429）</translation>
    </message>
    <message>
        <source>{0} cannot be moved: permission to remove it there is missing.</source>
        <translation>无法移动 {0}：没有将其从原位置删除的权限。</translation>
    </message>
    <message>
        <source>{0} ended early</source>
        <translation>{0} 提前结束</translation>
    </message>
    <message>
        <source>{0} has a problem of its own ({1})</source>
        <translation>{0} 自身出现问题（{1}）</translation>
    </message>
    <message>
        <source>{0} and its parts do not belong together.</source>
        <translation>{0} 与其各部分不属于同一个模型。</translation>
    </message>
    <message>
        <source>A 30B model takes about 18 GB after conversion: free some space first.</source>
        <translation>30B 模型转换后约占 18 GB：请先腾出空间。</translation>
    </message>
    <message>
        <source>Convert or download the model again. Was it the drive? Then choose Check the files in the list of models, or run edge0 doctor &quot;{0}&quot; --deep.</source>
        <translation>请重新转换或下载模型。如果可能是硬盘的问题，请在模型列表中选择“检查文件”，或运行 edge0 doctor &quot;{0}&quot; --deep。</translation>
    </message>
    <message>
        <source>Free some space or choose another drive, then try again: it goes on.</source>
        <translation>请腾出空间或选择其他硬盘，然后重试：会从中断处继续。</translation>
    </message>
    <message>
        <source>Its conversion is not finished.</source>
        <translation>转换尚未完成。</translation>
    </message>
    <message>
        <source>{0} and its parts hold {1} tensors, not {2}.</source>
        <translation>{0} 及其各部分共有 {1} 个张量，而不是 {2} 个。</translation>
    </message>
    <message>
        <source>{0} arrived damaged: fetching it once more</source>
        <translation>{0} 收到时已损坏：正在重新下载</translation>
    </message>
    <message>
        <source>{0} became shorter while it was read.</source>
        <translation>{0} 在读取过程中变短了。</translation>
    </message>
    <message>
        <source>{0} belongs to {1}.</source>
        <translation>{0} 属于 {1}。</translation>
    </message>
    <message>
        <source>{0} cannot be a folder&apos;s name.</source>
        <translation>{0} 不能作为文件夹名称。</translation>
    </message>
    <message>
        <source>{0} cannot be opened</source>
        <translation>无法打开 {0}</translation>
    </message>
    <message>
        <source>{0} cannot be reached: it refuses the connection</source>
        <translation>无法连接 {0}：对方拒绝连接</translation>
    </message>
    <message>
        <source>{0} cannot be reached: no connection</source>
        <translation>无法连接 {0}：没有网络连接</translation>
    </message>
    <message>
        <source>{0} cannot be reached: no connection, or no such address</source>
        <translation>无法连接 {0}：没有网络连接，或没有这个地址</translation>
    </message>
    <message>
        <source>{0} cannot be read: {1}.</source>
        <translation>无法读取 {0}：{1}。</translation>
    </message>
    <message>
        <source>{0} cannot be written: its drive is read-only.</source>
        <translation>无法写入 {0}：所在驱动器是只读的。</translation>
    </message>
    <message>
        <source>{0} changes on the server all the time: {1}.</source>
        <translation>{0} 在服务器上不断变化：{1}。</translation>
    </message>
    <message>
        <source>{0} connections cannot be used.</source>
        <translation>不能使用 {0} 个连接。</translation>
    </message>
    <message>
        <source>{0} could mean {1}.</source>
        <translation>{0} 可能是 {1}。</translation>
    </message>
    <message>
        <source>{0} does not answer</source>
        <translation>{0} 没有应答</translation>
    </message>
    <message>
        <source>{0} does not belong to this model, or its first bytes are damaged.</source>
        <translation>{0} 不属于此模型，或其开头已损坏。</translation>
    </message>
    <message>
        <source>{0} does not describe an Edge0 model.</source>
        <translation>{0} 描述的不是 Edge0 模型。</translation>
    </message>
    <message>
        <source>{0} does not exist (any more).</source>
        <translation>{0} 不存在（或已被移除）。</translation>
    </message>
    <message>
        <source>{0} does not exist.</source>
        <translation>{0} 不存在。</translation>
    </message>
    <message>
        <source>{0} does not fit the model&apos;s shape</source>
        <translation>{0} 与模型结构不符</translation>
    </message>
    <message>
        <source>{0} does not give {1} out ({2}).</source>
        <translation>{0} 不提供 {1}（{2}）。</translation>
    </message>
    <message>
        <source>{0} does not hold a JSON object.</source>
        <translation>{0} 中不是一个 JSON 对象。</translation>
    </message>
    <message>
        <source>{0} does not hold what was written to it.</source>
        <translation>{0} 的内容与写入的不一致。</translation>
    </message>
    <message>
        <source>{0} ended the connection</source>
        <translation>{0} 断开了连接</translation>
    </message>
    <message>
        <source>{0} ended the connection early</source>
        <translation>{0} 提前断开了连接</translation>
    </message>
    <message>
        <source>{0} ends before byte {1}.</source>
        <translation>{0} 在第 {1} 字节之前就结束了。</translation>
    </message>
    <message>
        <source>{0} ends early, at byte {1}.</source>
        <translation>{0} 在第 {1} 字节处提前结束。</translation>
    </message>
    <message>
        <source>{0} exists already.</source>
        <translation>{0} 已存在。</translation>
    </message>
    <message>
        <source>{0} exists and is not a converted model.</source>
        <translation>{0} 已存在，且不是已转换的模型。</translation>
    </message>
    <message>
        <source>{0} exists and was converted from another model or with other options.</source>
        <translation>{0} 已存在，但由另一个模型或用其他选项转换而来。</translation>
    </message>
    <message>
        <source>{0} exists and was made from another source or with other options.</source>
        <translation>{0} 已存在，但来自另一来源或使用了其他选项。</translation>
    </message>
    <message>
        <source>{0} free for {1}.</source>
        <translation>{1} 有 {0} 可用。</translation>
    </message>
    <message>
        <source>{0} gave an answer we cannot read.</source>
        <translation>{0} 给出了无法读懂的回答。</translation>
    </message>
    <message>
        <source>{0} gives an answer without end.</source>
        <translation>{0} 的回答没有结尾。</translation>
    </message>
    <message>
        <source>{0} has a format of another role</source>
        <translation>{0} 的格式属于另一种用途</translation>
    </message>
    <message>
        <source>{0} has a header without end.</source>
        <translation>{0} 的文件头没有结尾。</translation>
    </message>
    <message>
        <source>{0} has a second name</source>
        <translation>{0} 有两个名称</translation>
    </message>
    <message>
        <source>{0} has missing or unknown keys: {1}.</source>
        <translation>{0} 有缺失或未知的键：{1}。</translation>
    </message>
    <message>
        <source>{0} has more than {1} files.</source>
        <translation>{0} 的文件超过 {1} 个。</translation>
    </message>
    <message>
        <source>{0} has neither {1} nor {2}.</source>
        <translation>{0} 中既没有 {1} 也没有 {2}。</translation>
    </message>
    <message>
        <source>{0} has no GGUF model named {1}.</source>
        <translation>{0} 中没有名为 {1} 的 GGUF 模型。</translation>
    </message>
    <message>
        <source>{0} has no hash</source>
        <translation>{0} 没有哈希值</translation>
    </message>
    <message>
        <source>{0} has no list of tensors and files.</source>
        <translation>{0} 中没有张量与文件的列表。</translation>
    </message>
    <message>
        <source>{0} has no size</source>
        <translation>{0} 没有大小</translation>
    </message>
    <message>
        <source>{0} has no such revision.</source>
        <translation>{0} 没有这个版本。</translation>
    </message>
    <message>
        <source>{0} has no tensor {1}.</source>
        <translation>{0} 中没有张量 {1}。</translation>
    </message>
    <message>
        <source>{0} has no tokenizer.json, so this model cannot chat.</source>
        <translation>{0} 中没有 tokenizer.json，因此无法与此模型聊天。</translation>
    </message>
    <message>
        <source>{0} has no version.</source>
        <translation>{0} 没有版本号。</translation>
    </message>
    <message>
        <source>{0} has no {1}.</source>
        <translation>{0} 中没有 {1}。</translation>
    </message>
    <message>
        <source>{0} has other content than the hub promises, twice in a row.</source>
        <translation>{0} 的内容连续两次与模型库声明的不符。</translation>
    </message>
    <message>
        <source>{0} has {1} GGUF models named {2}.</source>
        <translation>{0} 中有 {1} 个名称含 {2} 的 GGUF 模型。</translation>
    </message>
    <message>
        <source>{0} has {1} bytes instead of {2}.</source>
        <translation>{0} 有 {1} 字节，而应为 {2} 字节。</translation>
    </message>
    <message>
        <source>{0} has {1} bytes, its header tells of {2}.</source>
        <translation>{0} 有 {1} 字节，而文件头声明为 {2} 字节。</translation>
    </message>
    <message>
        <source>{0} has {1} bytes; at most {2} are accepted.</source>
        <translation>{0} 有 {1} 字节；最多接受 {2} 字节。</translation>
    </message>
    <message>
        <source>{0} holds a damaged model: {1}</source>
        <translation>{0} 中的模型已损坏：{1}</translation>
    </message>
    <message>
        <source>{0} holds a file named {1}, which is not safe to store.</source>
        <translation>{0} 中有名为 {1} 的文件，存储它不安全。</translation>
    </message>
    <message>
        <source>{0} holds more than models.</source>
        <translation>{0} 中不只有模型。</translation>
    </message>
    <message>
        <source>{0} holds no .safetensors files.</source>
        <translation>{0} 中没有 .safetensors 文件。</translation>
    </message>
    <message>
        <source>{0} holds other tensors than the hub told.</source>
        <translation>{0} 中的张量与模型库声明的不符。</translation>
    </message>
    <message>
        <source>{0} holds pickled weights ({1}), which could run any code.</source>
        <translation>{0} 中的权重是 pickle 格式（{1}），可能执行任意代码。</translation>
    </message>
    <message>
        <source>{0} holds tensors this version does not know: {1}.</source>
        <translation>{0} 中有本版本不认识的张量：{1}。</translation>
    </message>
    <message>
        <source>{0} holds {1} GGUF models.</source>
        <translation>{0} 中有 {1} 个 GGUF 模型。</translation>
    </message>
    <message>
        <source>{0} is a GGUF model, which is converted as a whole.</source>
        <translation>{0} 是 GGUF 模型，只能整体转换。</translation>
    </message>
    <message>
        <source>{0} is a big-endian GGUF file.</source>
        <translation>{0} 是大端序的 GGUF 文件。</translation>
    </message>
    <message>
        <source>{0} is a dense model</source>
        <translation>{0} 是稠密模型</translation>
    </message>
    <message>
        <source>{0} is a link that leads out of the model&apos;s folder.</source>
        <translation>{0} 是指向模型文件夹之外的链接。</translation>
    </message>
    <message>
        <source>{0} is a reserved name</source>
        <translation>{0} 是保留名称</translation>
    </message>
    <message>
        <source>{0} is a version {1} GGUF file.</source>
        <translation>{0} 是第 {1} 版的 GGUF 文件。</translation>
    </message>
    <message>
        <source>{0} is an odd name</source>
        <translation>{0} 不是正常的名称</translation>
    </message>
    <message>
        <source>{0} is an unsafe name</source>
        <translation>{0} 是不安全的名称</translation>
    </message>
    <message>
        <source>{0} is damaged: the last check of its files found wrong bytes.</source>
        <translation>{0} 已损坏：上次检查文件时发现了错误的字节。</translation>
    </message>
    <message>
        <source>{0} is damaged: {1}.</source>
        <translation>{0} 已损坏：{1}。</translation>
    </message>
    <message>
        <source>{0} is damaged: {1}{2}.</source>
        <translation>{0} 已损坏：{1}{2}。</translation>
    </message>
    <message>
        <source>{0} is far too large ({1} bytes).</source>
        <translation>{0} 过大（{1} 字节）。</translation>
    </message>
    <message>
        <source>{0} is far too large.</source>
        <translation>{0} 过大。</translation>
    </message>
    <message>
        <source>{0} is given only to people who log in.</source>
        <translation>{0} 只提供给已登录的用户。</translation>
    </message>
    <message>
        <source>{0} is larger than {1} MB.</source>
        <translation>{0} 超过 {1} MB。</translation>
    </message>
    <message>
        <source>{0} is larger than {1} MiB.</source>
        <translation>{0} 超过 {1} MiB。</translation>
    </message>
    <message>
        <source>{0} is missing.</source>
        <translation>缺少 {0}。</translation>
    </message>
    <message>
        <source>{0} is missing: the model is split into {1} files.</source>
        <translation>缺少 {0}：此模型分为 {1} 个文件。</translation>
    </message>
    <message>
        <source>{0} is needed for the conversion but holds other files.</source>
        <translation>转换需要使用 {0}，但其中有其他文件。</translation>
    </message>
    <message>
        <source>{0} is never excluded.</source>
        <translation>绝不排除 {0}。</translation>
    </message>
    <message>
        <source>{0} is not UTF-8 text.</source>
        <translation>{0} 不是 UTF-8 文本。</translation>
    </message>
    <message>
        <source>{0} is not a converted model.</source>
        <translation>{0} 不是已转换的模型。</translation>
    </message>
    <message>
        <source>{0} is not a count.</source>
        <translation>{0} 不是有效的数量。</translation>
    </message>
    <message>
        <source>{0} is not a folder.</source>
        <translation>{0} 不是文件夹。</translation>
    </message>
    <message>
        <source>{0} is not a model file.</source>
        <translation>{0} 不是模型文件。</translation>
    </message>
    <message>
        <source>{0} is not a regular file but a link, folder or device.</source>
        <translation>{0} 不是普通文件，而是链接、文件夹或设备。</translation>
    </message>
    <message>
        <source>{0} is not a revision.</source>
        <translation>{0} 不是版本名称。</translation>
    </message>
    <message>
        <source>{0} is not an ordinary file.</source>
        <translation>{0} 不是普通文件。</translation>
    </message>
    <message>
        <source>{0} is not gate, up, down</source>
        <translation>{0} 不是 gate、up、down</translation>
    </message>
    <message>
        <source>{0} is not the name of a model on a hub.</source>
        <translation>{0} 不是模型库中的模型名称。</translation>
    </message>
    <message>
        <source>{0} is not valid JSON: {1}.</source>
        <translation>{0} 不是有效的 JSON：{1}。</translation>
    </message>
    <message>
        <source>{0} is not where it belongs</source>
        <translation>{0} 的位置不对</translation>
    </message>
    <message>
        <source>{0} is not {1}.</source>
        <translation>{0} 不是{1}。</translation>
    </message>
    <message>
        <source>{0} is on a FAT32 drive, which holds no file above 4 GiB.</source>
        <translation>{0} 位于 FAT32 硬盘上，不能存放超过 4 GiB 的文件。</translation>
    </message>
    <message>
        <source>{0} is on a drive that cannot be written: it cannot be moved.</source>
        <translation>{0} 所在的驱动器不可写入：无法移动。</translation>
    </message>
    <message>
        <source>{0} is on a removable drive.</source>
        <translation>{0} 在可移动硬盘上。</translation>
    </message>
    <message>
        <source>{0} is on {1}{2}, {3}.</source>
        <translation>{0} 位于{1}{2}，{3}。</translation>
    </message>
    <message>
        <source>{0} is one of {1} parts, but its name does not say which.</source>
        <translation>{0} 是 {1} 个部分之一，但文件名没有说明是哪一个。</translation>
    </message>
    <message>
        <source>{0} is only a Git LFS pointer, not the file itself.</source>
        <translation>{0} 只是 Git LFS 指针，不是文件本身。</translation>
    </message>
    <message>
        <source>{0} is part {1} of {2} by its content, not {3} of {4}.</source>
        <translation>{0} 的内容是 {2} 个部分中的第 {1} 个，而不是 {4} 个中的第 {3} 个。</translation>
    </message>
    <message>
        <source>{0} is stored as type {1}, which is not known here.</source>
        <translation>{0} 的存储类型 {1} 不受支持。</translation>
    </message>
    <message>
        <source>{0} is where the model is.</source>
        <translation>模型已经在 {0}。</translation>
    </message>
    <message>
        <source>{0} is {1}, outside {2} to {3}</source>
        <translation>{0} 的值是 {1}，超出 {2} 到 {3} 的范围</translation>
    </message>
    <message>
        <source>{0} is {1}.</source>
        <translation>{0} 的值是 {1}。</translation>
    </message>
    <message>
        <source>{0} lacks the tensor {1} that {2} puts there.</source>
        <translation>{0} 中缺少张量 {1}，而 {2} 说它在那里。</translation>
    </message>
    <message>
        <source>{0} lacks {1} tensors: {2}.</source>
        <translation>{0} 缺少 {1} 个张量：{2}。</translation>
    </message>
    <message>
        <source>{0} may not be called</source>
        <translation>不允许调用 {0}</translation>
    </message>
    <message>
        <source>{0} may not be used</source>
        <translation>不允许使用 {0}</translation>
    </message>
    <message>
        <source>{0} merges of the GGUF file name unknown tokens.</source>
        <translation>GGUF 文件中有 {0} 条合并规则用到未知的词元。</translation>
    </message>
    <message>
        <source>{0} names no model_type.</source>
        <translation>{0} 中没有 model_type。</translation>
    </message>
    <message>
        <source>{0} names {1}, which is not a .safetensors file.</source>
        <translation>{0} 提到的 {1} 不是 .safetensors 文件。</translation>
    </message>
    <message>
        <source>{0} of experts: {1} a layer, {2} used a token.</source>
        <translation>{0} 的专家：每层 {1} 个，每个词元用 {2} 个。</translation>
    </message>
    <message>
        <source>{0} of {1} are available.</source>
        <translation>{1} 中有 {0} 可用。</translation>
    </message>
    <message>
        <source>{0} of {1} experts fit into memory; one token uses {2}.</source>
        <translation>{1} 个专家中有 {0} 个能放进内存；一个词元用 {2} 个。</translation>
    </message>
    <message>
        <source>{0} of {1} has other content than the hub promises.</source>
        <translation>{1} 的 {0} 内容与模型库声明的不符。</translation>
    </message>
    <message>
        <source>{0} of {1} has {2} bytes; at most {3} are accepted.</source>
        <translation>{1} 的 {0} 有 {2} 字节；最多接受 {3} 字节。</translation>
    </message>
    <message>
        <source>{0} of {1} lacks the tensor {2}.</source>
        <translation>{1} 的 {0} 中缺少张量 {2}。</translation>
    </message>
    <message>
        <source>{0} of {1} names no model_type.</source>
        <translation>{1} 的 {0} 中没有 model_type。</translation>
    </message>
    <message>
        <source>{0} opens</source>
        <translation>{0} 可以打开</translation>
    </message>
    <message>
        <source>{0} records compared.</source>
        <translation>已比对 {0} 条记录。</translation>
    </message>
    <message>
        <source>{0} redirects in circles</source>
        <translation>{0} 循环重定向</translation>
    </message>
    <message>
        <source>{0} redirects to {1}, which is not safe</source>
        <translation>{0} 重定向到不安全的 {1}</translation>
    </message>
    <message>
        <source>{0} repeats the tensor {1}.</source>
        <translation>{0} 中的张量 {1} 重复。</translation>
    </message>
    <message>
        <source>{0} sent more than {1} bytes</source>
        <translation>{0} 发送的数据超过 {1} 字节</translation>
    </message>
    <message>
        <source>{0} starts anew: {1}</source>
        <translation>{0} 重新开始：{1}</translation>
    </message>
    <message>
        <source>{0} tokens do not fit the context of {1}.</source>
        <translation>{0} 个词元放不进长度为 {1} 的上下文。</translation>
    </message>
    <message>
        <source>{0} was refused with status {1}.</source>
        <translation>{0} 被拒绝，状态码 {1}。</translation>
    </message>
    <message>
        <source>{0} {1} is not an address.</source>
        <translation>{0} {1} 不是有效地址。</translation>
    </message>
    <message>
        <source>{0} {1}.</source>
        <translation>{0}：{1}。</translation>
    </message>
    <message>
        <source>{0} → {1}: {2} {3} {4}</source>
        <translation>{0} → {1}：{2} 个{3}，{4}</translation>
    </message>
    <message>
        <source>{0}, {1} layers, {2}, {3}</source>
        <translation>{0}，{1} 层，{2}，{3}</translation>
    </message>
    <message>
        <source>{0}.</source>
        <translation>{0}。</translation>
    </message>
    <message>
        <source>{0}: set in the options.</source>
        <translation>{0}：由设置指定。</translation>
    </message>
    <message>
        <source>{0}: tensor {1} holds values that are not numbers.</source>
        <translation>{0}：张量 {1} 中有不是数字的值。</translation>
    </message>
    <message>
        <source>{0}: tensor {1} is not described well.</source>
        <translation>{0}：张量 {1} 的描述不正确。</translation>
    </message>
    <message>
        <source>{0}: tensor {1} of shape {2} as {3} cannot have {4} bytes.</source>
        <translation>{0}：形状为 {2}、类型为 {3} 的张量 {1} 不可能有 {4} 字节。</translation>
    </message>
    <message>
        <source>{0}: tensor {1} overlaps the one before it, or leaves a gap.</source>
        <translation>{0}：张量 {1} 与前一个重叠，或留有空隙。</translation>
    </message>
    <message>
        <source>{0}: the header does not fit into the file.</source>
        <translation>{0}：文件头超出了文件的长度。</translation>
    </message>
    <message>
        <source>{0}: the metadata are not texts.</source>
        <translation>{0}：元数据不是文本。</translation>
    </message>
    <message>
        <source>{0}: {1} GB{2}</source>
        <translation>{0}：{1} GB{2}</translation>
    </message>
    <message>
        <source>{0}: {1} has the shape {2} instead of {3}</source>
        <translation>{0}：{1} 的形状是 {2}，而应为 {3}</translation>
    </message>
    <message>
        <source>{0}: {1} has the shape {2}.</source>
        <translation>{0}：{1} 的形状是 {2}。</translation>
    </message>
    <message>
        <source>{0}: {1} is not a plain file name.</source>
        <translation>{0}：{1} 不是普通的文件名。</translation>
    </message>
    <message>
        <source>{0}: {1} is not a tensor&apos;s name.</source>
        <translation>{0}：{1} 不是张量名称。</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}, expected {3}.</source>
        <translation>{0}：{1} 的值是 {2}，应为{3}。</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}.</source>
        <translation>{0}：{1} 的值是 {2}。</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}: {3}.</source>
        <translation>{0}：{1} 的值是 {2}，{3}。</translation>
    </message>
    <message>
        <source>{0}: {1} logical processors, {2} compute threads.</source>
        <translation>{0}：{1} 个逻辑处理器，{2} 个计算线程。</translation>
    </message>
    <message>
        <source>{0}: {1}.</source>
        <translation>{0}：{1}。</translation>
    </message>
    <message>
        <source>{0}; trying again in {1} s</source>
        <translation>{0}；{1} 秒后重试</translation>
    </message>
    <message>
        <source>{0}{1}; {2} available.</source>
        <translation>{0}{1}；{2} 可用。</translation>
    </message>
</context>
<context>
    <name>EngineWorker</name>
    <message>
        <source>No model is open.</source>
        <translation>没有打开模型。</translation>
    </message>
    <message>
        <source>Choose a model above the chat.</source>
        <translation>请在聊天上方选择模型。</translation>
    </message>
</context>
<context>
    <name>Exclusion</name>
    <message>
        <source>It is excluded now.</source>
        <translation>已排除。</translation>
    </message>
    <message>
        <source>It is scanned again.</source>
        <translation>已恢复扫描。</translation>
    </message>
    <message>
        <source>Nothing had to be changed.</source>
        <translation>无需更改。</translation>
    </message>
    <message>
        <source>You said no; nothing was changed. That is fine.</source>
        <translation>您选择了否，没有任何更改。没有关系。</translation>
    </message>
    <message>
        <source>This account may not act as administrator. Somebody who may can type the command.</source>
        <translation>此帐户不能以管理员身份操作。有权限的人可以输入该命令。</translation>
    </message>
    <message>
        <source>The folder is not one that may be excluded.</source>
        <translation>此文件夹不可排除。</translation>
    </message>
    <message>
        <source>Windows took it but does not use it: your organisation manages Defender. Ask its administrators.</source>
        <translation>Windows 接受了但并未生效：Defender 由您的组织管理。请询问管理员。</translation>
    </message>
    <message>
        <source>Windows did not answer in time. Nothing is certain; look again.</source>
        <translation>Windows 没有及时回应。结果不确定，请再看一次。</translation>
    </message>
    <message>
        <source>Defender refused. It may be off, or another antivirus may be in charge.</source>
        <translation>Defender 拒绝了。它可能已关闭，或由其他杀毒软件负责。</translation>
    </message>
</context>
<context>
    <name>ExclusionsPage</name>
    <message>
        <source>These files are not scanned, because you excluded them here:</source>
        <translation>以下文件不会被扫描，因为您在这里排除了它们：</translation>
    </message>
    <message>
        <source>Edge0 has excluded nothing. The setup wizard offers it.</source>
        <translation>Edge0 没有排除任何文件。可以在设置向导中添加。</translation>
    </message>
    <message>
        <source>{0} (since {1})</source>
        <translation>{0}（自 {1}）</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Undo the exclusion of {0}</source>
        <translation>撤销对 {0} 的排除</translation>
    </message>
    <message>
        <source>Windows asks for permission…</source>
        <translation>Windows 正在请求许可…</translation>
    </message>
</context>
<context>
    <name>IoRow</name>
    <message>
        <source>Held</source>
        <translation>持有方式</translation>
    </message>
    <message>
        <source>mapped</source>
        <translation>映射</translation>
    </message>
    <message>
        <source>direct</source>
        <translation>直接</translation>
    </message>
    <message>
        <source>Mapped: experts are used where the system caches the model&apos;s files. Direct: they are read past that cache into this app&apos;s own memory.</source>
        <translation>映射：直接使用系统文件缓存中的专家。直接：绕过该缓存，把专家读入本应用自己的内存。</translation>
    </message>
    <message>
        <source>Chosen in the settings.</source>
        <translation>由设置指定。</translation>
    </message>
    <message>
        <source>Chosen because the whole model fits into the memory budget.</source>
        <translation>选择原因：内存预算放得下整个模型。</translation>
    </message>
    <message>
        <source>Chosen because this drive can be unplugged: that then costs one reply only.</source>
        <translation>选择原因：此驱动器可能被拔下，届时只会影响一次回复。</translation>
    </message>
    <message>
        <source>Chosen because free memory keeps most of what the budget misses.</source>
        <translation>选择原因：空闲内存能留住预算之外的大部分专家。</translation>
    </message>
    <message>
        <source>Chosen because there is little free memory beside the budget.</source>
        <translation>选择原因：预算之外的空闲内存很少。</translation>
    </message>
    <message>
        <source>Chosen because it was measured to be faster here.</source>
        <translation>选择原因：在本机实测更快。</translation>
    </message>
    <message>
        <source>Chosen by the free memory there is.</source>
        <translation>根据空闲内存选择。</translation>
    </message>
    <message>
        <source>Memory got short: the budget went from {0} to {1}.</source>
        <translation>内存不足：内存预算已从 {0} 降到 {1}。</translation>
    </message>
    <message>
        <source>This was changed while the model was open, because memory changed.</source>
        <translation>模型打开期间内存情况发生变化，因此更改了持有方式。</translation>
    </message>
</context>
<context>
    <name>JumpButton</name>
    <message>
        <source>Go to the newest text</source>
        <translation>回到最新内容</translation>
    </message>
    <message>
        <source>new</source>
        <translation>最新</translation>
    </message>
</context>
<context>
    <name>Library</name>
    <message>
        <source>dense</source>
        <translation>稠密</translation>
    </message>
    <message>
        <source>{0} experts, top {1}</source>
        <translation>{0} 个专家，每次用 {1} 个</translation>
    </message>
</context>
<context>
    <name>LivePanel</name>
    <message>
        <source>Live numbers</source>
        <translation>实时数据</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Working set</source>
        <translation>工作集</translation>
    </message>
    <message>
        <source>Memory of this app that is in RAM right now. This is what the budget bounds.</source>
        <translation>本应用此刻实际占用的物理内存。内存预算限制的就是它。</translation>
    </message>
    <message>
        <source>Committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>Private memory the system has promised to this app. Model files that are only read do not count.</source>
        <translation>系统承诺给本应用的私有内存。只读的模型文件不计入。</translation>
    </message>
    <message>
        <source>Virtual</source>
        <translation>虚拟地址空间</translation>
    </message>
    <message>
        <source>Address space in use. Mapped model files count in full here, although most of them are not in RAM: a large number is normal and costs nothing.</source>
        <translation>已使用的地址空间。映射的模型文件在这里全部计入，但大部分并不在内存中：数字很大是正常的，不占用内存。</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>Memory that holds the attention keys and values of the conversation.</source>
        <translation>保存本对话注意力键和值的内存。</translation>
    </message>
    <message>
        <source>SSD</source>
        <translation>固态硬盘</translation>
    </message>
    <message>
        <source>Read rate</source>
        <translation>读取速率</translation>
    </message>
    <message>
        <source>Expert reads</source>
        <translation>专家读取</translation>
    </message>
    <message>
        <source>Expert records read from the SSD each second.</source>
        <translation>每秒从固态硬盘读取的专家记录数。</translation>
    </message>
    <message>
        <source>Page faults, hard</source>
        <translation>硬缺页</translation>
    </message>
    <message>
        <source>Page faults each second that had to read from the drive.</source>
        <translation>每秒需要读盘的缺页次数。</translation>
    </message>
    <message>
        <source>Page faults, soft</source>
        <translation>软缺页</translation>
    </message>
    <message>
        <source>Page faults each second that found their page in memory already.</source>
        <translation>每秒所需页面已在内存中的缺页次数。</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>专家</translation>
    </message>
    <message>
        <source>Hit rate</source>
        <translation>命中率</translation>
    </message>
    <message>
        <source>Share of expert uses that were found in memory and not read from the SSD.</source>
        <translation>使用专家时已在内存中、无需读盘的比例。</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>首个词元</translation>
    </message>
    <message>
        <source>Time from sending the last prompt to the first text of its reply.</source>
        <translation>从发送上一条提示到回复出现第一个字的时间。</translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation>预填充</translation>
    </message>
    <message>
        <source>Prompt tokens computed each second; reused ones do not count.</source>
        <translation>每秒计算的提示词元数；复用的不计入。</translation>
    </message>
    <message>
        <source>Decode</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>Tokens written each second, without the first one.</source>
        <translation>每秒生成的词元数，不含第一个。</translation>
    </message>
    <message>
        <source>Bytes this app reads from the drive each second. Linux: counted below the page cache. Windows and macOS: as the system counts reads, which may include cached ones.</source>
        <translation>本应用每秒从硬盘读取的字节数。Linux：在页缓存之下统计。Windows 和 macOS：按系统的读取计数，可能包含缓存命中。</translation>
    </message>
</context>
<context>
    <name>LoginBox</name>
    <message>
        <source>Token</source>
        <translation>令牌</translation>
    </message>
    <message>
        <source>Keep it in this system&apos;s key store</source>
        <translation>保存在系统的密钥库中</translation>
    </message>
    <message>
        <source>Otherwise it is forgotten when Edge0 ends</source>
        <translation>否则 Edge0 退出后即被忘记</translation>
    </message>
    <message>
        <source>Forget the token</source>
        <translation>忘记令牌</translation>
    </message>
    <message>
        <source>only where asked for; never sent to a mirror</source>
        <translation>仅在要求时使用；绝不发送给镜像</translation>
    </message>
    <message>
        <source>in this system&apos;s key store</source>
        <translation>已在系统的密钥库中</translation>
    </message>
    <message>
        <source>This system keeps no tokens: it is used until Edge0 ends.</source>
        <translation>此系统不能保存令牌：它只在 Edge0 退出前有效。</translation>
    </message>
</context>
<context>
    <name>MachinePage</name>
    <message>
        <source>This computer</source>
        <translation>这台电脑</translation>
    </message>
    <message>
        <source>Progress of measuring</source>
        <translation>测量进度</translation>
    </message>
    <message>
        <source>Another folder…</source>
        <translation>其他文件夹…</translation>
    </message>
    <message>
        <source>Stop measuring</source>
        <translation>停止测量</translation>
    </message>
    <message>
        <source>Measure speed (5 s)</source>
        <translation>测量速度（5 秒）</translation>
    </message>
    <message>
        <source>{0}, {1} of it free now</source>
        <translation>{0}，其中 {1} 现在空闲</translation>
    </message>
    <message>
        <source>{0}, {1} threads, {2}</source>
        <translation>{0}，{1} 个线程，{2}</translation>
    </message>
    <message>
        <source>{0} ({1}), {2} free</source>
        <translation>{0}（{1}），{2} 可用</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>Graphics</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Drive</source>
        <translation>硬盘</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>none found; Edge0 computes on the processor</source>
        <translation>未找到；Edge0 用处理器计算</translation>
    </message>
    <message>
        <source>{0}; not used: Edge0 computes on the processor</source>
        <translation>{0}；未使用：Edge0 用处理器计算</translation>
    </message>
    <message>
        <source>not yet</source>
        <translation>尚未测量</translation>
    </message>
    <message>
        <source>drive {0} in random reads, weights from memory {1}</source>
        <translation>硬盘随机读取 {0}，内存中的权重 {1}</translation>
    </message>
    <message>
        <source>(a cache helped the drive)</source>
        <translation>（硬盘借助了缓存）</translation>
    </message>
    <message>
        <source>NVMe SSD</source>
        <translation>NVMe 固态硬盘</translation>
    </message>
    <message>
        <source>SATA SSD</source>
        <translation>SATA 固态硬盘</translation>
    </message>
    <message>
        <source>hard disk</source>
        <translation>机械硬盘</translation>
    </message>
    <message>
        <source>USB drive or memory card</source>
        <translation>USB 盘或存储卡</translation>
    </message>
    <message>
        <source>network drive</source>
        <translation>网络盘</translation>
    </message>
    <message>
        <source>virtual drive</source>
        <translation>虚拟盘</translation>
    </message>
    <message>
        <source>unknown drive</source>
        <translation>未知的盘</translation>
    </message>
    <message>
        <source>{0} watches this folder and would upload every model: choose another.</source>
        <translation>{0} 会同步此文件夹并上传每个模型：请另选一个。</translation>
    </message>
    <message>
        <source>On a network drive every token waits for the network.</source>
        <translation>在网络盘上，每个词元都要等待网络。</translation>
    </message>
    <message>
        <source>Do not unplug this drive while a model is open.</source>
        <translation>模型打开时请勿拔出此盘。</translation>
    </message>
    <message>
        <source>This file system holds no file above 4 GB: large models fail.</source>
        <translation>此文件系统不能存放超过 4 GB 的文件：大模型会失败。</translation>
    </message>
    <message>
        <source>This folder is kept in memory, which the model needs itself.</source>
        <translation>此文件夹位于内存中，而模型自己需要内存。</translation>
    </message>
    <message>
        <source>Little room: a 30B model takes 18 GB, and 79 GB while it is made.</source>
        <translation>空间不多：一个 30B 模型占 18 GB，制作期间占 79 GB。</translation>
    </message>
    <message>
        <source>Edge0 cannot compute here. {0}</source>
        <translation>Edge0 无法在此计算。{0}</translation>
    </message>
    <message>
        <source>Nothing can be stored in this folder. {0}</source>
        <translation>此文件夹无法写入。{0}</translation>
    </message>
    <message>
        <source>With less than 8 GB of memory, small models run well here.</source>
        <translation>内存不足 8 GB，适合运行小模型。</translation>
    </message>
    <message>
        <source>Models that fit into memory run well; larger ones wait for this drive.</source>
        <translation>装得进内存的模型运行良好；更大的模型要等待这块硬盘。</translation>
    </message>
    <message>
        <source>Good so far. Measure the speed to learn how fast a model will be.</source>
        <translation>目前良好。测量速度即可知道模型会有多快。</translation>
    </message>
    <message>
        <source>A good machine: models larger than its memory run well from this drive.</source>
        <translation>很好的电脑：比内存大的模型也能从这块硬盘流畅运行。</translation>
    </message>
    <message>
        <source>Looking at this computer…</source>
        <translation>正在查看这台电脑…</translation>
    </message>
    <message>
        <source>Keep models in</source>
        <translation>模型存放于</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Edge0</source>
        <translation>Edge0</translation>
    </message>
    <message>
        <source>Show or hide the chats (Ctrl+B)</source>
        <translation>显示或隐藏聊天列表 (Ctrl+B)</translation>
    </message>
    <message>
        <source>Show or hide the live numbers (Ctrl+J)</source>
        <translation>显示或隐藏实时数据 (Ctrl+J)</translation>
    </message>
    <message>
        <source>The chat was deleted.</source>
        <translation>聊天已删除。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Open a model folder</source>
        <translation>打开模型文件夹</translation>
    </message>
    <message>
        <source>The disk is full: part of your chats is not saved yet and would be lost now. Free some space, then close again.</source>
        <translation>磁盘已满：部分对话尚未保存，现在关闭会丢失。请先腾出空间，再关闭。</translation>
    </message>
    <message>
        <source>Close anyway</source>
        <translation>仍然关闭</translation>
    </message>
</context>
<context>
    <name>MessageEditor</name>
    <message>
        <source>Edit message</source>
        <translation>编辑消息</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>MessageFooter</name>
    <message>
        <source>Copy message as Markdown</source>
        <translation>以 Markdown 复制消息</translation>
    </message>
    <message>
        <source>Edit and send again</source>
        <translation>编辑后重新发送</translation>
    </message>
    <message>
        <source>Write another reply</source>
        <translation>重新回复</translation>
    </message>
    <message>
        <source>Delete message</source>
        <translation>删除消息</translation>
    </message>
    <message>
        <source>Previous variant</source>
        <translation>上一个版本</translation>
    </message>
    <message>
        <source>Next variant</source>
        <translation>下一个版本</translation>
    </message>
</context>
<context>
    <name>MessageView</name>
    <message>
        <source>No reply was written.</source>
        <translation>没有写出回复。</translation>
    </message>
    <message>
        <source>Waiting for the model…</source>
        <translation>正在等待模型…</translation>
    </message>
    <message>
        <source>Reading the prompt: {0} of {1} tokens</source>
        <translation>正在读取提示：{0} / {1} 个词元</translation>
    </message>
    <message>
        <source>You wrote</source>
        <translation>您写道</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回复</translation>
    </message>
    <message>
        <source>The reply failed.</source>
        <translation>回复失败。</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>Which model?</source>
        <translation>选择哪个模型？</translation>
    </message>
    <message>
        <source>The small starter model</source>
        <translation>小型入门模型</translation>
    </message>
    <message>
        <source>A model we suggest</source>
        <translation>我们推荐的模型</translation>
    </message>
    <message>
        <source>Any model of a hub, by its name</source>
        <translation>按名称选择模型库中的任意模型</translation>
    </message>
    <message>
        <source>Files on this computer</source>
        <translation>这台电脑上的文件</translation>
    </message>
    <message>
        <source>Where the model comes from</source>
        <translation>模型的来源</translation>
    </message>
    <message>
        <source>SmolLM2 135M, Apache-2.0, 93 MB. A dense model for a first try: it runs on any machine and answers simple questions.</source>
        <translation>SmolLM2 135M，Apache-2.0，93 MB。用于初次体验的稠密模型：任何电脑都能运行，可回答简单问题。</translation>
    </message>
    <message>
        <source>Suggested models</source>
        <translation>推荐的模型</translation>
    </message>
    <message>
        <source>only when there are several, e.g. Q8_0</source>
        <translation>仅当有多个时填写，例如 Q8_0</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>GGUF file</source>
        <translation>GGUF 文件</translation>
    </message>
    <message>
        <source>Qwen3-MoE, Mixtral, OLMoE, MiniMax-M2 and Llama models, as safetensors or GGUF. Only weights and settings are fetched, never programs.</source>
        <translation>支持 Qwen3-MoE、Mixtral、OLMoE、MiniMax-M2 和 Llama 模型，safetensors 或 GGUF 格式。只下载权重和设置，绝不下载程序。</translation>
    </message>
    <message>
        <source>Folder or file</source>
        <translation>文件夹或文件</translation>
    </message>
    <message>
        <source>A folder with safetensors files, or a GGUF file</source>
        <translation>含 safetensors 文件的文件夹，或 GGUF 文件</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>GGUF file…</source>
        <translation>GGUF 文件…</translation>
    </message>
    <message>
        <source>The files stay where and as they are.</source>
        <translation>这些文件保持原样，不会移动。</translation>
    </message>
    <message>
        <source>Hub</source>
        <translation>模型库</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>代理</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>令牌</translation>
    </message>
    <message>
        <source>{0} B at a time</source>
        <translation>每次使用 {0} B</translation>
    </message>
    <message>
        <source>dense</source>
        <translation>稠密</translation>
    </message>
    <message>
        <source>{0} GB on disk</source>
        <translation>占盘 {0} GB</translation>
    </message>
    <message>
        <source>{0} Licence {1}; download {2} GB; for {3} GB of memory or more.</source>
        <translation>{0} 许可证 {1}；下载 {2} GB；适合 {3} GB 及以上内存。</translation>
    </message>
    <message>
        <source>The hub needs an address such as https://huggingface.co.</source>
        <translation>模型库需要一个地址，例如 https://huggingface.co。</translation>
    </message>
    <message>
        <source>A proxy is an address such as http://proxy.example:8080.</source>
        <translation>代理应是一个地址，例如 http://proxy.example:8080。</translation>
    </message>
    <message>
        <source>Folder with a model</source>
        <translation>含模型的文件夹</translation>
    </message>
</context>
<context>
    <name>ModelPicker</name>
    <message>
        <source>Choose a model</source>
        <translation>选择模型</translation>
    </message>
    <message>
        <source>Opening {0}…</source>
        <translation>正在打开 {0}…</translation>
    </message>
    <message>
        <source>Opening {0}… {1} %</source>
        <translation>正在打开 {0}… {1} %</translation>
    </message>
    <message>
        <source>Model: {0}</source>
        <translation>模型：{0}</translation>
    </message>
    <message>
        <source>Open a model folder…</source>
        <translation>打开模型文件夹…</translation>
    </message>
    <message>
        <source>Add a model…</source>
        <translation>添加模型…</translation>
    </message>
    <message>
        <source>Manage models…</source>
        <translation>管理模型…</translation>
    </message>
    <message>
        <source>Check this computer…</source>
        <translation>检查这台电脑…</translation>
    </message>
    <message>
        <source>{0} (cannot be opened)</source>
        <translation>{0}（无法打开）</translation>
    </message>
    <message>
        <source>{0} (damaged)</source>
        <translation>{0}（已损坏）</translation>
    </message>
    <message>
        <source>{0} (missing: take off the list)</source>
        <translation>{0}（找不到：从列表移除）</translation>
    </message>
</context>
<context>
    <name>ModelsDialog</name>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation>这台电脑上的模型</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Chat with it</source>
        <translation>与它聊天</translation>
    </message>
    <message>
        <source>Show folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Check the files</source>
        <translation>检查文件</translation>
    </message>
    <message>
        <source>Lay out by use</source>
        <translation>按使用排列</translation>
    </message>
    <message>
        <source>Put the experts used most first: a faster cold start</source>
        <translation>把最常用的专家排在前面：冷启动更快</translation>
    </message>
    <message>
        <source>Move…</source>
        <translation>移动…</translation>
    </message>
    <message>
        <source>Into another folder, also on another drive</source>
        <translation>移到其他文件夹，也可以在其他硬盘上</translation>
    </message>
    <message>
        <source>Convert again…</source>
        <translation>重新转换…</translation>
    </message>
    <message>
        <source>Fetch and convert it anew, perhaps in another format</source>
        <translation>重新获取并转换，也可换一种格式</translation>
    </message>
    <message>
        <source>Take off the list</source>
        <translation>从列表移除</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Undo the deletion</source>
        <translation>撤销删除</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Move it to</source>
        <translation>移动到</translation>
    </message>
    <message>
        <source>not there: is its drive connected?</source>
        <translation>不在：硬盘已连接吗？</translation>
    </message>
    <message>
        <source>damaged: check the files again, or convert it again</source>
        <translation>已损坏：请重新检查文件，或重新转换</translation>
    </message>
    <message>
        <source>cannot be opened</source>
        <translation>无法打开</translation>
    </message>
    <message>
        <source>Has not replied here yet</source>
        <translation>尚未在此回复过</translation>
    </message>
    <message>
        <source>Last reply: {0}, first word after {1} ({2})</source>
        <translation>上次回复：{0}，首字 {1}（{2}）</translation>
    </message>
    <message>
        <source>Checking {0}…</source>
        <translation>正在检查 {0}…</translation>
    </message>
    <message>
        <source>Laying out {0}…</source>
        <translation>正在排列 {0}…</translation>
    </message>
    <message>
        <source>Moving {0}…</source>
        <translation>正在移动 {0}…</translation>
    </message>
    <message>
        <source>{0}: every byte is as it was made.</source>
        <translation>{0}：每个字节都完好。</translation>
    </message>
    <message>
        <source>{0}: the experts used most come first now.</source>
        <translation>{0}：最常用的专家现在排在前面。</translation>
    </message>
    <message>
        <source>{0} is in its new place.</source>
        <translation>{0} 已在新位置。</translation>
    </message>
    <message>
        <source>{0} was deleted. It is removed for good in a few minutes.</source>
        <translation>{0} 已删除。几分钟后将彻底移除。</translation>
    </message>
    <message>
        <source>{0} is back.</source>
        <translation>{0} 已恢复。</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>已停止。</translation>
    </message>
</context>
<context>
    <name>Network</name>
    <message>
        <source>as the system; or e.g. http://proxy:8080</source>
        <translation>与系统相同；或例如 http://proxy:8080</translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Notice</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Close this notice</source>
        <translation>关闭此提示</translation>
    </message>
</context>
<context>
    <name>OptionsPage</name>
    <message>
        <source>How to convert it</source>
        <translation>如何转换</translation>
    </message>
    <message>
        <source>nf4: 4 bits, best for most</source>
        <translation>nf4：4 位，多数情况最佳</translation>
    </message>
    <message>
        <source>int4: 4 bits, even steps</source>
        <translation>int4：4 位，等距</translation>
    </message>
    <message>
        <source>int8: 8 bits, nearly exact, twice the size</source>
        <translation>int8：8 位，几乎精确，两倍大小</translation>
    </message>
    <message>
        <source>bf16: 16 bits, exact, four times the size</source>
        <translation>bf16：16 位，精确，四倍大小</translation>
    </message>
    <message>
        <source>Number format</source>
        <translation>数值格式</translation>
    </message>
    <message>
        <source>Lay the experts used most first (a few minutes more)</source>
        <translation>把最常用的专家排在前面（多花几分钟）</translation>
    </message>
    <message>
        <source>Ask the hub what it takes</source>
        <translation>询问模型库需要多少资源</translation>
    </message>
    <message>
        <source>Looking into the model</source>
        <translation>正在查看模型</translation>
    </message>
    <message>
        <source>The one that is there is deleted when the new one is ready.</source>
        <translation>新的就绪后，现有的一个会被删除。</translation>
    </message>
    <message>
        <source>dense: all of it for every token</source>
        <translation>稠密：每个词元用到全部</translation>
    </message>
    <message>
        <source>{0} B used for a token</source>
        <translation>每个词元使用 {0} B</translation>
    </message>
    <message>
        <source>{0} B parameters</source>
        <translation>{0} B 参数</translation>
    </message>
    <message>
        <source>{0} while it is made, {1} afterwards; {2} are free</source>
        <translation>制作时 {0}，之后 {1}；可用 {2}</translation>
    </message>
    <message>
        <source>runs from {0}, well from {1}, all of it in memory from {2}</source>
        <translation>{0} 起可运行，{1} 起较好，{2} 起全部装入内存</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{1} 中的 {0}</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>现在空闲</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>unknown: measure this computer on the first page</source>
        <translation>未知：请在第一页测量这台电脑</translation>
    </message>
    <message>
        <source>{0} to {1}; first word after {2} to {3}</source>
        <translation>{0} 到 {1}；{2} 到 {3} 后出现第一个词</translation>
    </message>
    <message>
        <source>The starter is ready made for a first try: just start.</source>
        <translation>入门模型已为初次体验准备好：直接开始即可。</translation>
    </message>
    <message>
        <source>You may also start at once; it asks first and checks the room.</source>
        <translation>也可以立即开始；它会先询问并检查空间。</translation>
    </message>
    <message>
        <source>There is too little room on the drive for it.</source>
        <translation>硬盘空间不足。</translation>
    </message>
    <message>
        <source>It does not fit into the memory that is free now. You may still try.</source>
        <translation>现在空闲的内存装不下它。仍可以试试。</translation>
    </message>
    <message>
        <source>It will run, but slower than a word a second.</source>
        <translation>可以运行，但每秒不到一个词。</translation>
    </message>
    <message>
        <source>It will run here. The drive is small for it, so each downloaded file is deleted once it is converted.</source>
        <translation>可以在此运行。磁盘空间不大，因此每个下载的文件转换后即删除。</translation>
    </message>
    <message>
        <source>It will run here.</source>
        <translation>可以在此运行。</translation>
    </message>
</context>
<context>
    <name>ProseView</name>
    <message>
        <source>Message text</source>
        <translation>消息正文</translation>
    </message>
</context>
<context>
    <name>RefusalBox</name>
    <message>
        <source>Accept the licence on the model&apos;s page, make a token for reading, and enter it here. It goes to huggingface.co and nowhere else.</source>
        <translation>请在模型页面上接受许可协议，创建一个只读令牌并填在这里。它只会发送给 huggingface.co，不会发往别处。</translation>
    </message>
    <message>
        <source>Open {0}</source>
        <translation>打开 {0}</translation>
    </message>
</context>
<context>
    <name>ReplyCaption</name>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Interrupted: Edge0 was closed</source>
        <translation>已中断：Edge0 被关闭</translation>
    </message>
    <message>
        <source>Cut at the length limit</source>
        <translation>达到长度上限</translation>
    </message>
    <message>
        <source>The context window is full</source>
        <translation>上下文已满</translation>
    </message>
    <message>
        <source>first token {0}</source>
        <translation>首个词元 {0}</translation>
    </message>
    <message>
        <source>hits {0}</source>
        <translation>命中 {0}</translation>
    </message>
    <message>
        <source>Prompt tokens</source>
        <translation>提示词元</translation>
    </message>
    <message>
        <source>of these reused</source>
        <translation>其中复用</translation>
    </message>
    <message>
        <source>Generated tokens</source>
        <translation>生成词元</translation>
    </message>
    <message>
        <source>First token after</source>
        <translation>首个词元用时</translation>
    </message>
    <message>
        <source>Prefill speed</source>
        <translation>预填充速度</translation>
    </message>
    <message>
        <source>Decode speed</source>
        <translation>生成速度</translation>
    </message>
    <message>
        <source>Experts found in memory</source>
        <translation>内存中找到的专家</translation>
    </message>
    <message>
        <source>Expert bytes read</source>
        <translation>读取的专家字节数</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Settings pages</source>
        <translation>设置页</translation>
    </message>
    <message>
        <source>General</source>
        <translation>通用</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>聊天</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Windows Defender</source>
        <translation>Windows Defender</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends, Enter breaks the line</source>
        <translation>Ctrl+Enter 发送，Enter 换行</translation>
    </message>
    <message>
        <source>How the model should behave, in every chat</source>
        <translation>希望模型在每个聊天中如何表现</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Model&apos;s own</source>
        <translation>模型自己的</translation>
    </message>
    <message>
        <source>Another one each time</source>
        <translation>每次随机</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>0 always takes the likeliest token</source>
        <translation>0 表示总是取概率最高的词元</translation>
    </message>
    <message>
        <source>Longest reply</source>
        <translation>最长回复</translation>
    </message>
    <message>
        <source>In tokens</source>
        <translation>以词元计</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>0 is off</source>
        <translation>0 表示关闭</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>1 is off</source>
        <translation>1 表示关闭</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>The same seed gives the same reply again</source>
        <translation>相同的种子会得到相同的回复</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Automatic: measure and choose</source>
        <translation>自动：测量后选择</translation>
    </message>
    <message>
        <source>Mapped: use the system&apos;s file cache</source>
        <translation>映射：使用系统文件缓存</translation>
    </message>
    <message>
        <source>Direct: read past the file cache</source>
        <translation>直接：绕过文件缓存读取</translation>
    </message>
    <message>
        <source>Memory budget</source>
        <translation>内存预算</translation>
    </message>
    <message>
        <source>How much RAM the whole app may use, everything included</source>
        <translation>整个应用最多可用的内存，全部计算在内</translation>
    </message>
    <message>
        <source>Expert reading</source>
        <translation>专家读取方式</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文长度</translation>
    </message>
    <message>
        <source>In tokens; a longer one needs more memory</source>
        <translation>以词元计；越长需要越多内存</translation>
    </message>
    <message>
        <source>Changes here open the model again.</source>
        <translation>更改后会重新打开模型。</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>New chat</source>
        <translation>新聊天</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>搜索聊天</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>聊天列表</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
</context>
<context>
    <name>StarterCard</name>
    <message>
        <source>Welcome to Edge0</source>
        <translation>欢迎使用 Edge0</translation>
    </message>
    <message>
        <source>Progress of the starter model</source>
        <translation>入门模型的进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Another model…</source>
        <translation>其他模型…</translation>
    </message>
    <message>
        <source>Open a model folder…</source>
        <translation>打开模型文件夹…</translation>
    </message>
    <message>
        <source>It goes into {0}</source>
        <translation>将存放在 {0}</translation>
    </message>
    <message>
        <source>To try it out, Edge0 can fetch a small starter model (SmolLM2 135M, about 93 MB, Apache-2.0) and convert it for your SSD. It is a small dense model: good for a first try, not for hard questions. Nothing is downloaded before you press the button.</source>
        <translation>要先试一试，Edge0 可以获取一个小型入门模型（SmolLM2 135M，约 93 MB，Apache-2.0），并转换为适合固态硬盘的格式。它是一个小型稠密模型：适合初次体验，不适合难题。在您按下按钮之前不会下载任何内容。</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Get the starter model</source>
        <translation>获取入门模型</translation>
    </message>
    <message>
        <source>It did not work:</source>
        <translation>没有成功：</translation>
    </message>
    <message>
        <source>Stopped. What is there is kept; it goes on from there.</source>
        <translation>已停止。已有的内容会保留，之后从这里继续。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在开始…</translation>
    </message>
</context>
<context>
    <name>TableText</name>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
</context>
<context>
    <name>UnfinishedList</name>
    <message>
        <source>Not finished</source>
        <translation>未完成</translation>
    </message>
</context>
<context>
    <name>UnfinishedRow</name>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Go on with {0}</source>
        <translation>继续 {0}</translation>
    </message>
    <message>
        <source>Delete what is there</source>
        <translation>删除已有部分</translation>
    </message>
    <message>
        <source>Delete what is there of {0}</source>
        <translation>删除 {0} 的已有部分</translation>
    </message>
    <message>
        <source>at work now</source>
        <translation>正在进行</translation>
    </message>
    <message>
        <source>{0} of {1} fetched</source>
        <translation>已获取 {0}，共 {1}</translation>
    </message>
    <message>
        <source>{0} converted</source>
        <translation>已转换 {0}</translation>
    </message>
    <message>
        <source>{0}; convert the same files again to go on</source>
        <translation>{0}；再次转换同样的文件即可继续</translation>
    </message>
    <message>
        <source>Really delete?</source>
        <translation>确定删除？</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>What shall we talk about?</source>
        <translation>想聊点什么？</translation>
    </message>
    <message>
        <source>Everything stays on this computer.</source>
        <translation>一切都留在这台电脑上。</translation>
    </message>
</context>
<context>
    <name>Wizard</name>
    <message>
        <source>Add a model</source>
        <translation>添加模型</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Start chatting</source>
        <translation>开始聊天</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>WorkPage</name>
    <message>
        <source>Getting the model</source>
        <translation>正在获取模型</translation>
    </message>
    <message>
        <source>Progress of getting the model</source>
        <translation>获取模型的进度</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>You may close this window, and chat with another model: the work goes on.</source>
        <translation>可以关闭此窗口并与其他模型聊天：工作会继续。</translation>
    </message>
    <message>
        <source>It did not work.</source>
        <translation>没有成功。</translation>
    </message>
    <message>
        <source>Paused. What is there is kept; it goes on from there.</source>
        <translation>已暂停。已有的部分会保留，之后从那里继续。</translation>
    </message>
    <message>
        <source>The model is ready.</source>
        <translation>模型已就绪。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在开始…</translation>
    </message>
    <message>
        <source>Downloading: {0}</source>
        <translation>正在下载：{0}</translation>
    </message>
    <message>
        <source>It is kept in {0}. You can chat with it now; it stays in the list of models.</source>
        <translation>保存在 {0}。现在就可以与它聊天；以后在模型列表里能找到它。</translation>
    </message>
    <message>
        <source>{0} left</source>
        <translation>剩余 {0}</translation>
    </message>
</context>
</TS>
